/**
 * What a container runs that is there for people to work in: nothing, until it is asked to end. POSIX sh, with no other program than
 * `tail`; as the first process of its container it has to do what nobody else does.
 *
 * The first process gets no signal that it has not asked for, and whoever is left when it ends is killed. So it hands the wish on
 * and waits, as long as somebody cleans up. Shells of terminals do not hear it, and end when their terminal does: they are those that
 * came from outside, whose parent is nobody here. Images may ask for another signal than TERM: 28 is WINCH, 37 what systemd takes.
 * While it waits it takes in all that have lost their parents.
 */
export const IDLE_SCRIPT = `end() {
  trap '' TERM INT QUIT HUP
  # In a pod whose containers share their processes the others are not ours. A kubelet makes one of two dollar signs.
  read -r self rest </proc/self/stat
  [ "$self" = 1 ] || exit 0
  kill -TERM -1
  for stat in /proc/[0-9]*/stat; do
    read -r line <"$stat" || continue
    pid=\${stat#/proc/}
    case \${line##*) } in ?' 0 '*) kill -s HUP "\${pid%/stat}" ;; esac
  done
  tries=50
  while [ "$tries" -gt 0 ] && kill -0 -1; do
    sleep 0.1 || sleep 1
    tries=$((tries - 1))
  done
  exit 0
} 2>/dev/null
trap end TERM INT QUIT HUP 28 37
tail -f /dev/null &
wait "$!"
`
