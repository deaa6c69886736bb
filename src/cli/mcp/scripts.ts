// For the sh of any image: that of busybox, dash, bash.

/** Says as what it runs, so that it can be ended: no end of a connection ends a program in a container. */
export const WITH_ID = 'printf "%s\\n" "$$"\n'
/**
 * It runs as the leader of a session, so that what it has started has its group. First it may put away what it has begun. Ends
 * with 0 where nothing of the group is known to run on. Dash knows no `-9` with a `--` behind it.
 */
export const END_SCRIPT = `one="$1" n=0
end() { kill -s "$1" -- "-$one" 2>/dev/null || kill -s "$1" "$one" 2>/dev/null; }
if ! end TERM; then
  if [ -d "/proc/$one" ]; then exit 1; fi
  exit 0
fi
while [ "$n" -lt 10 ] && end 0; do
  n=$((n + 1))
  sleep 0.2 2>/dev/null || { sleep 1; n=$((n + 4)); }
done
end 0 || exit 0
end KILL || ! end 0`

/** What the scripts for files say by their exit code, so that words of ours are never those of a stranger. */
export const REASONS: ReadonlyMap<number, string> = new Map([
  [81, 'it is a folder: list_files says what is in it'],
  [82, 'it is no file'],
  [83, 'the content did not arrive whole or did not fit, and the file is as it was'],
  [84, 'the new content could not be written, and the file is as it was'],
  [85, 'the new content could not be written, nor what was in it before: the file is now incomplete'],
  [86, 'what is there may hold secrets, and berth mcp neither reads, lists nor writes it'],
])

/** Whether it is not the path that was wrong. */
export const isUnwritten = (code: number): boolean => code >= 83 && code <= 85

/** A command where the project is missing must not do its work in another folder and say that all went well. */
const inProject = (word: string) => `CDPATH=
case "${word}" in /*) ;; *) cd -- "\${PROJECT_SOURCE:-.}" || exit 1 ;; esac
`

/**
 * The outer shell stays: containerd ends the input of a command whose own output is closed. `env` knows no builtin of the
 * shell, such as `eval`, but takes `-` and what has a `=` for its own.
 */
export const COMMAND_SCRIPT = `${inProject('$1')}[ -z "$1" ] || cd -- "$1" || exit 1
shift
case "\${1-}" in
  */*) "$@" ;;
  '' | - | *=*) printf 'there is no program of this name\\n' >&2; exit 127 ;;
  *) env -- "$@" ;;
esac
exit "$?"`

/** Names are arguments, whatever is in them, and what is printed of them ends with a NUL: there may be a newline in one. */
const IN_PROJECT = inProject('$1')

/** The kernel says what is open, behind all links: between a look at a name and its use it could lead elsewhere. */
const CONFINED = `confined() {
  at="$(readlink "/proc/self/$1")" || exit 86
  case "$at/" in
    /proc/* | /sys/* | /run/secrets/* | /var/run/secrets/* | /run/berth/* | /var/run/berth/* | /.workspace-data/variables/*) exit 86 ;;
    /*) ;;
    *) exit 86 ;;
  esac
}
`

export const LIST_SCRIPT = `${IN_PROJECT}${CONFINED}cd -- "$1" || exit 1
confined cwd
skip="$2" most="$3" n=0 more=
set --
for f in * .[!.]* ..?*; do
  [ -e "$f" ] || [ -L "$f" ] || continue
  n=$((n + 1))
  [ "$n" -gt "$skip" ] || continue
  if [ "$#" -ge "$most" ]; then more=1; break; fi
  set -- "$@" "./$f"
done
for f in "$@"; do
  if [ -L "$f" ]; then kind=link; elif [ -d "$f" ]; then kind=folder; elif [ -f "$f" ]; then kind=file; else kind=other; fi
  printf '%s\\0%s\\0' "$kind" "$f"
done
printf '%s\\0\\0' "$more"
[ "$#" -eq 0 ] || stat -c '%s' "$@" 2>/dev/null
exit 0`

/** `tail` is ended by a signal, or says that its pipe broke, where `head` has all that it wants. */
export const READ_SCRIPT = `${IN_PROJECT}${CONFINED}[ ! -d "$1" ] || exit 81
[ ! -e "$1" ] || [ -f "$1" ] || exit 82
exec < "$1" || exit 1
confined fd/0
if [ "$2" -eq 0 ]; then head -c "$3"; exit "$?"; fi
exec 4>&1
code="$({ { tail -c "+$(($2 + 1))"; printf %s "$?" >&3; } | head -c "$3" >&4; } 3>&1)"
[ "$code" = 141 ] || exit "$code"`

/**
 * What comes is kept beside the file until it is whole, and then takes its place in one step. Where the file has another owner or
 * more names, or is a mount, it is filled anew, and has its old content back where that fails: also at a TERM.
 */
export const WRITE_SCRIPT = `${IN_PROJECT}${CONFINED}[ ! -d "$1" ] || exit 81
[ ! -e "$1" ] || [ -f "$1" ] || exit 82
file="$1" came= kept= undo=
if [ -L "$file" ]; then
  file="$(readlink -f -- "$file" && printf x)" || exit 1
  file="\${file%??}"
fi
case "$file" in
  /*/*) cd -- "\${file%/*}" || exit 1 ;;
  /*) cd / ;;
  */*) cd -- "./\${file%/*}" || exit 1 ;;
esac
confined cwd
file="./\${file##*/}"
leave() {
  code="$?"
  trap '' TERM HUP INT
  if [ -n "$undo" ]; then cat "$kept" > "$file" || code=85; fi
  [ -z "$came" ] || rm -f "$came"
  [ -z "$kept" ] || [ "$code" -eq 85 ] || rm -f "$kept"
  exit "$code"
}
trap leave EXIT
trap 'exit 84' TERM HUP INT
came="$(mktemp ./.berth-write.XXXXXX 2>/dev/null || mktemp)" || exit 84
head -c "$2" > "$came" || exit 84
[ "$(wc -c < "$came")" -eq "$2" ] || exit 83
if [ ! -e "$file" ]; then
  case "$came" in ./*) chmod =rw "$came" && mv -f "$came" "$file" && exit 0 ;; esac
elif mode="$(stat -c %a "$file" 2>/dev/null)" && [ "$(stat -c '%u:%g:1' "$came")" = "$(stat -c '%u:%g:%h' "$file")" ]; then
  case "$came" in ./*) chmod "$mode" "$came" && mv -f "$came" "$file" 2>/dev/null && exit 0 ;; esac
fi
if [ ! -e "$file" ]; then
  cat "$came" > "$file" && exit 0
  code="$?"
  [ ! -e "$file" ] || rm -f "$file"
  exit "$code"
fi
kept="$(mktemp ./.berth-kept.XXXXXX 2>/dev/null || mktemp)" || exit 84
cat "$file" > "$kept" || exit 84
undo=1
cat "$came" > "$file" || exit 84
undo=`

/** Pure. What the script has listed. */
export function filesIn(printed: string) {
  const words = printed.split('\0')
  const end = words.findIndex((word, at) => at % 2 === 1 && word === '')
  const sizes = (words[end + 1] ?? '').split('\n').filter(Boolean)
  const count = Math.max(end - 1, 0) / 2
  const files = Array.from({ length: count }, (_, at) => ({
    name: (words[2 * at + 1] ?? '').slice('./'.length),
    kind: words[2 * at] ?? '',
    // Without a size where stat is not there, or where a file has left meanwhile.
    ...(sizes.length === count && { size: Number(sizes[at]) }),
  }))
  return { files, hasMore: words[end - 1] === '1' }
}
