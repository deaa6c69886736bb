/**
 * What the init container runs, POSIX sh. Everything that it works with lies in files beside it; nothing is ever written into its
 * text. Its last words go to the termination message of the container, so that the status of the workspace can say them.
 */
export const CLONE_SCRIPT = `#!/bin/sh
# Clones the project of the workspace, once. What is there already is never touched.
set -u
umask 002
here=$(dirname -- "$0")
root=$PROJECTS_ROOT
notes=$root/.berth
part=$notes/clone
log=$notes/clone.log

value() { cat -- "$here/$1" 2>/dev/null; }
say() {
  # Whatever stands before the host of a URL is nobody's business, and words are not to move a terminal's cursor.
  words=$(printf %s "$1" | sed 's#://[^/@ ]*@#://#g' | tr -d '[:cntrl:]')
  printf '%s\\n' "$words" >&2
  [ ! -w "\${TERMINATION_LOG:-/dev/termination-log}" ] || printf '%s' "$words" > "\${TERMINATION_LOG:-/dev/termination-log}"
}
fail() {
  rm -rf -- "$part"
  say "cannot clone $url: $1"
  exit 1
}
# The line that says why: kas' words, then those of SSH, then Git's, which after SSH says nothing but that it could not read.
why() {
  for word in '^berth: ' '^No user exists for uid|^ssh: |Permission denied|Host key verification failed|Connection (closed|refused|timed out)' '^fatal: ' '^error: ' ''; do
    line=$(grep -E -- "$word" "$log" 2>/dev/null | grep -v '^fatal: Could not read from remote' | tail -n 1 | cut -c 1-400)
    [ -z "$line" ] || break
  done
  printf %s "\${line#berth: }"
}

url=$(value url) ref=$(value ref)
target=$root/$(value folder)
export GIT_CONFIG_SYSTEM="$here/gitconfig" GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https:http:ssh
export HOME="\${HOME:-/tmp}"
[ -w "$HOME" ] || HOME=/tmp

# What it has found is looked at again with each start; what it has cloned is not.
[ ! -e "$notes/cloned" ] || [ -s "$notes/cloned" ] || exit 0
# The first process of a container is told to end only if it has asked for it.
trap 'exit 1' TERM
command -v git > /dev/null || fail 'the image of the cloner has no git'
mkdir -p -- "$notes" || fail "the volume cannot be written"
rm -rf -- "$part"
if [ -n "$(ls -A -- "$target" 2>/dev/null)" ]; then
  if [ "$(git -C "$target" config --local --get remote.origin.url 2>/dev/null)" = "$url" ]; then
    : > "$notes/cloned"
    say "$target is a clone of $url already"
    exit 0
  fi
  echo 'nothing: there were files' > "$notes/cloned" || fail "the volume cannot be written"
  say "$target has files in it already: nothing is cloned"
  exit 0
fi
rm -f -- "$notes/cloned"

# Hooks come from templates only, and there are none.
clone() {
  git clone --quiet --template= "$@" -- "$url" "$part" > "$log" 2>&1 &
  wait "$!"
}
bring() { if [ -n "$ref" ]; then clone --no-checkout; else clone; fi; }
tries=0
until bring; do
  tries=$((tries + 1))
  # Trouble on the way may pass. What was refused stays refused.
  grep -qiE 'could not resolve|connect|timed out|early EOF|hung up|error: (429|5..)|RPC failed|TLS' "$log" || tries=9
  [ "$tries" -lt 3 ] || fail "$(why)"
  rm -rf -- "$part"
  sleep "$tries" &
  wait "$!"
done

at() { git -C "$part" rev-parse --verify --quiet "$1^{commit}" > /dev/null; }
check_out() {
  name=\${ref#refs/heads/}
  if at "refs/remotes/origin/$name"; then
    git -C "$part" checkout --quiet -B "$name" --track "refs/remotes/origin/$name" --
  elif at "refs/tags/\${ref#refs/tags/}"; then
    git -C "$part" checkout --quiet --detach "refs/tags/\${ref#refs/tags/}" --
  elif git -C "$part" fetch --quiet origin "$ref" && at FETCH_HEAD; then
    git -C "$part" checkout --quiet --detach FETCH_HEAD --
  else
    return 1
  fi
}
if [ -n "$ref" ]; then
  case $ref in -*) fail "the ref $ref begins with a dash" ;; esac
  check_out > "$log" 2>&1 || fail "ref $ref: $(why)"
fi
[ ! -e "$target" ] || rmdir -- "$target" 2>/dev/null || fail "$target has files in it by now"
mv -- "$part" "$target" || fail "$target cannot be written"
: > "$notes/cloned"
say "cloned $url at $(git -C "$target" rev-parse --short HEAD 2>/dev/null || printf 'nothing: it is empty')"
`

/**
 * What another pod runs before it has the folder of the projects: it waits until the project is cloned, or there is nothing to be
 * cloned, for what it puts there would keep the project from being cloned.
 */
export const AWAIT_SCRIPT = `#!/bin/sh
set -u
here=$(dirname -- "$0")
target=$PROJECTS_ROOT/$(cat -- "$here/folder")
cloned=$PROJECTS_ROOT/.berth/cloned

trap 'exit 1' TERM
# A folder that was found with files in it, and is empty now, is cloned into.
until [ -e "$cloned" ] && { [ ! -s "$cloned" ] || [ -n "$(ls -A -- "$target" 2>/dev/null)" ]; }; do
  sleep 1 &
  wait "$!"
done
`
