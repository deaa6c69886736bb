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
  for word in '^berth: ' '^ssh: |Permission denied|Host key verification failed|Connection (closed|refused|timed out)' '^fatal: ' '^error: ' ''; do
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

[ ! -e "$notes/cloned" ] || exit 0
command -v git > /dev/null || fail 'the image of the cloner has no git'
mkdir -p -- "$notes" || fail "the volume cannot be written"
rm -rf -- "$part"
if [ -n "$(ls -A -- "$target" 2>/dev/null)" ]; then
  say "$target has files in it already: nothing is cloned"
  : > "$notes/cloned"
  exit 0
fi

# Hooks come from templates only, and there are none.
clone() { git clone --quiet --template= "$@" -- "$url" "$part" > "$log" 2>&1; }
bring() { if [ -n "$ref" ]; then clone --no-checkout; else clone; fi; }
tries=0
until bring; do
  tries=$((tries + 1))
  # Trouble on the way may pass. What was refused stays refused.
  grep -qiE 'could not resolve|connect|timed out|early EOF|hung up|error: (429|5..)|RPC failed|TLS' "$log" || tries=9
  [ "$tries" -lt 3 ] || fail "$(why)"
  rm -rf -- "$part"
  sleep "$tries"
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
rmdir -- "$target" 2>/dev/null
mv -- "$part" "$target" || fail "$target cannot be written"
: > "$notes/cloned"
say "cloned $url at $(git -C "$target" rev-parse --short HEAD 2>/dev/null || printf 'nothing: it is empty')"
`
