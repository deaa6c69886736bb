/** What there is of every script that runs commands: a command by its name, and what is told of one that fails. */
const COMMANDS = `mkdir -p "$logs" 2>/dev/null
if [ ! -w "$logs" ]; then
  logs=/tmp/workspace-logs
  mkdir -p "$logs"
fi

# Where the image does not say where home is, the runtime says the root, which these users may not write. An editor has the same.
if [ "\${HOME:-/}" = / ]; then
  export HOME="\${BERTH_TOOLS_DIR:-/tmp}\${BERTH_TOOLS_DIR:+/home}"
  mkdir -p "$HOME" 2>/dev/null
fi

# A whole file, with the line breaks at its end.
text() {
  content=$(cat "$1" && printf x) && content=\${content%x}
}

# Ends a command and what it has started, at first kindly.
end_late() {
  sleep "$1" &
  nap=$!
  trap 'kill "$nap"; exit 0' TERM
  wait "$nap"
  trap '' TERM
  : >"$3"
  # No other spelling is understood by each of busybox, dash and bash.
  kill -TERM "$2" && sleep 5 && kill -KILL "$2"
}

# One command; its end is told in its log. 124: its time was over. 125: it could not be started.
run() {
  base=$scripts/$1 limit=$2 log=$logs/$1.log late=$logs/$1.late
  rm -f "$late"
  [ -f "$log" ] && mv -f "$log" "$log.before"
  exec >"$log" 2>&1 </dev/null
  set -- sh "$base.sh"
  for file in "$base".env.*; do
    [ -f "$file" ] && text "$file" && set -- "$content" "$@"
  done
  if [ -s "$base.dir" ]; then
    text "$base.dir"
    cd -- "$content" || exit 125
  fi
  group=
  set -- env -- "$@"
  if command -v setsid >/dev/null 2>&1; then
    group=-
    set -- setsid "$@"
  fi
  "$@" &
  pid=$!
  guard=
  if [ "$limit" -gt 0 ]; then
    end_late "$limit" "$group$pid" "$late" >/dev/null 2>&1 &
    guard=$!
  fi
  wait "$pid"
  code=$?
  if [ -e "$late" ]; then
    rm -f "$late"
    code=124
    echo "ended, because it took longer than $limit seconds"
  elif [ -n "$guard" ]; then
    kill "$guard" 2>/dev/null
  fi
  echo "exit code $code"
  exit "$code"
}

# What became of a command, with the end of its log: a message of 4 KB is all that Kubernetes keeps.
become() {
  if [ "$2" = 124 ]; then end="took too long"; else end="ended with exit code $2"; fi
  echo "command $1 $end; its log is $logs/$1.log"
  tail -n 20 "$logs/$1.log" | tail -c 2048
}

# One that is waited for: the container ends with it.
tell() {
  { become "$1" "$2" >"$told"; } 2>/dev/null
  { become "$1" "$2" >>"$aloud"; } 2>/dev/null
  become "$1" "$2" 2>/dev/null | head -n 1 >&2
}

# One that nobody waits for: the container goes on.
go() {
  (run "$1" "$2")
  code=$?
  [ "$code" = 0 ] || become "$1" "$code" 2>/dev/null | sed '1s/^/background /' >>"$aloud"
}
`

/**
 * The script that runs the commands of an event in a container: `sh run <scripts> <logs> <list> [<told> <aloud>]`. It is the same text
 * for every workspace: what a devfile says comes in files beside it and is never part of a script. Any POSIX shell will do; `setsid`,
 * where the image has it, makes sure that a command whose time is over takes along what it has started.
 *
 * A line of the list is `<file> wait|go <seconds> and|end`: wait for it or not, its time limit, and whether the next begins with it.
 * A command that fails is told in the file <told>, which Kubernetes reads when the container ends, and in <aloud>, which is the log
 * of the container: nothing else of an event arrives there.
 */
export const RUNNER = `set -u
scripts=$1 logs=$2 list=$3 told=\${4:-/dev/termination-log} aloud=\${5:-/proc/1/fd/2}

${COMMANDS}
together=
status=0
while read -r name how limit turn <&3; do
  if [ "$how" = wait ]; then
    (run "$name" "$limit") 3<&- >/dev/null 2>&1 &
    together="$together $name:$!"
  else
    (go "$name" "$limit") 3<&- >/dev/null 2>&1 &
  fi
  [ "$turn" = end ] || continue
  for each in $together; do
    wait "\${each##*:}" || { status=$?; tell "\${each%:*}" "$status"; }
  done
  together=
  [ "$status" = 0 ] || exit "$status"
done 3<"$scripts/$list"
`

/**
 * The same where several containers of a pod have commands at its start: `sh take-turns <scripts> <logs> <list> <turns> [<aloud>]`.
 * The kubelet starts a container when the hook of the one before it is over, so that this hook leaves its commands in the background.
 * A line of the list has more words then, `<mark> <mark>…`: the file in the folder <turns>, which all of them have, that says that
 * this container is done with its part, and those that have to be there before it begins.
 *
 * What fails is told in a file, for the container that waits for all of them; when that has ended and was started again, it has taken
 * the file away, and the command is tried again. Whoever waits for its turn goes on waiting meanwhile, as its pod does.
 */
export const TURNS_RUNNER = `set -u
scripts=$1 logs=$2 list=$3 turns=$4 aloud=\${5:-/proc/1/fd/2}
who=\${list#*.}
told=$turns/words.$who

${COMMANDS}
rest() {
  sleep 0.2 2>/dev/null || sleep 1
}

reach() {
  for mark_before in $1; do
    while [ ! -e "$turns/$mark_before" ]; do rest; done
  done
}

begin() {
  (run "$1" "$2") 3<&- >/dev/null 2>&1 &
  together="$together $1:$2:$!"
}

# Waits for all that have begun together, and keeps those that have failed.
settle() {
  failed=
  for each in $together; do
    wait "\${each##*:}" && continue
    code=$?
    tell "\${each%%:*}" "$code"
    failed="$failed \${each%:*}"
  done
  together=
}

take_turns() {
  together=
  while read -r name how limit turn mark needs <&3; do
    reach "$needs"
    if [ "$how" = wait ]; then
      begin "$name" "$limit"
    else
      (go "$name" "$limit") 3<&- >/dev/null 2>&1 &
    fi
    [ "$turn" = end ] || continue
    settle
    while [ -n "$failed" ]; do
      mv -f "$told" "$turns/failed.$who" || rest
      while [ -e "$turns/failed.$who" ]; do rest; done
      reach "$needs"
      for each in $failed; do begin "\${each%:*}" "\${each#*:}"; done
      settle
    done
    [ -z "$mark" ] || : >"$turns/$mark"
  done 3<"$scripts/$list"
  : >"$turns/over.$who"
}

# A container that is started again does its part again, and the others wait for it.
rm -f "$turns"/*."$who" "$turns"/failed.*
(take_turns) >/dev/null 2>&1 </dev/null &
`

/**
 * Waits until all containers are done with their commands: `sh await-turns <turns> <told> <aloud> <own> <other>…`. It ends as soon as
 * a command has failed, and tells in its own container what has.
 */
export const TURNS_WAITER = `set -u
turns=$1 told=$2 aloud=$3 who=$4
shift 3

while :; do
  for each in "$turns"/failed.*; do
    [ -e "$each" ] || continue
    { cat "$each" >"$told"; } 2>/dev/null
    [ "$each" = "$turns/failed.$who" ] || { cat "$each" >>"$aloud"; } 2>/dev/null
    head -n 1 "$each"
    exit 1
  done
  open=
  for each in "$@"; do
    [ -e "$turns/over.$each" ] || open=yes
  done
  [ -n "$open" ] || exit 0
  sleep 0.2 2>/dev/null || sleep 1
done
`
