// For the sh of any image: that of busybox, dash, bash.

/** Says as what it runs, so that it can be ended: no end of a connection ends a program in a container. */
export const WITH_ID = 'printf "%s\\n" "$$"\n'
/** It runs as the leader of a session, so that what it has started has its group. Dash knows no `-9` with a `--` behind it. */
export const END_SCRIPT = 'kill -s KILL -- "-$1" 2>/dev/null || kill -s KILL "$1"'

/** The outer shell stays: containerd ends the input of a command whose own output is closed. */
export const COMMAND_SCRIPT = `CDPATH=
cd -- "\${PROJECT_SOURCE:-.}" 2>/dev/null
[ -z "$1" ] || cd -- "$1" || exit 1
shift
"$@"
exit "$?"`

/** Names are arguments, whatever is in them, and what is printed of them ends with a NUL: there may be a newline in one. */
const IN_PROJECT = 'CDPATH=\ncd -- "${PROJECT_SOURCE:-.}" 2>/dev/null\n'

export const LIST_SCRIPT = `${IN_PROJECT}cd -- "$1" || exit 1
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

export const READ_SCRIPT = `${IN_PROJECT}if [ -d "$1" ]; then echo 'it is a folder: list_files says what is in it' >&2; exit 1; fi
if [ -e "$1" ] && [ ! -f "$1" ]; then echo 'it is no file' >&2; exit 1; fi
exec < "$1" || exit 1
[ "$2" -eq 0 ] || { tail -c "+$(($2 + 1))" | head -c "$3"; exit 0; }
head -c "$3"
exit "$?"`

/** What has arrived is counted before the file is touched. A file keeps its owner and mode. */
export const WRITE_SCRIPT = `${IN_PROJECT}if [ -d "$1" ]; then echo 'it is a folder' >&2; exit 1; fi
if [ -e "$1" ] && [ ! -f "$1" ]; then echo 'it is no file' >&2; exit 1; fi
came="$(mktemp)" || exit 1
head -c "$2" > "$came"
if [ "$(wc -c < "$came")" -ne "$2" ]; then rm -f "$came"; echo 'the content did not arrive whole' >&2; exit 1; fi
cat "$came" > "$1"
code="$?"
rm -f "$came"
exit "$code"`

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
