# Starts the first process of a node in namespaces and cgroups of its own, and waits for its end. However this process ends, everything of
# the node ends with it, and its cgroups go.
# Variables: those of conf/enter.sh; CGROUP, the name of the node's cgroup in each hierarchy; NAMESPACES, the flags of unshare.
set -eu
: "${STATE:?}" "${ROOT:?}" "${HIERARCHIES:?}" "${CGROUP:?}" "${NAMESPACES:?}"

alive="$STATE/alive"
rm -f "$alive"
mkfifo "$alive"
exec 3<> "$alive"

# Reads until the last process of the node has ended, for each holds the other end. It is none of those that work in the folder, and so
# outlives whoever ends all of these.
setsid sh -c '
  cd /
  cat > /dev/null
  for hierarchy in $HIERARCHIES; do
    folder="/sys/fs/cgroup/$hierarchy/$CGROUP"
    # The kernel needs a moment to forget the processes.
    for _ in $(seq 100); do
      find "$folder" -depth -type d -exec rmdir {} \; 2> /dev/null
      [ -d "$folder" ] || break
      sleep 0.1
    done
  done
' < "$alive" 3>&- &
reaper=$!

# It ends with the process that starts it, unless that has ended already.
starter=$$
export starter
setpriv --pdeathsig KILL sh -c '
  set -eu
  [ "$PPID" = "$starter" ]
  for hierarchy in $HIERARCHIES; do
    folder="/sys/fs/cgroup/$hierarchy/$CGROUP"
    mkdir -p "$folder"
    # Until these are set nothing may run in it; the whole machine is as good as any part.
    if [ "$hierarchy" = cpuset ]; then
      for file in cpus mems; do cat "/sys/fs/cgroup/cpuset/cpuset.$file" > "$folder/cpuset.$file"; done
    fi
    echo $$ > "$folder/cgroup.procs"
  done
  # shellcheck disable=SC2086
  exec unshare $NAMESPACES --kill-child "$ROOT/usr/bin/busybox" sh "$STATE/conf/enter.sh"
' &
node=$!
exec 3>&-
echo "$node" > "$STATE/pid"
trap 'kill -KILL "$node"' TERM
# A signal ends a wait: the second one is for the process that it has ended.
wait "$node" || wait "$node" || true
# The number may be another's from here on.
trap : TERM
wait "$reaper" || wait "$reaper" || true
