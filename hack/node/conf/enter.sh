# The first process of a node, in namespaces of its own, on its way from the machine's files to the node's.
# Variables: STATE (the folder of the node), ROOT and PROGRAMS (see node-programs.ts), MACHINE (the mount namespace of the machine),
# HIERARCHIES (of cgroups, as in `cpu memory`), NODE (its name), NAMESERVER (empty where there is no way out).
set -eu

b() { "$ROOT/usr/bin/busybox" "$@"; }

# Everything below mounts and unmounts: in the machine's own namespace it would take the machine apart.
here=$(b readlink /proc/self/ns/mnt)
if [ "$here" = "${MACHINE:?}" ]; then
  echo "not in a mount namespace of its own: nothing is mounted" >&2
  exit 1
fi

new="$STATE/root"
b mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=$STATE/upper,workdir=$STATE/work" "$new"
b mkdir -p "$new/old" "$new/proc" "$new/sys" "$new/dev" "$new/run" "$new/tmp" "$new/opt/berth/bin" "$new/opt/berth/images" \
  "$new/etc/berth" "$new/var/lib/containerd" "$new/var/lib/kubelet" "$new/var/lib/cni" "$new/var/log" "$new/var/volumes"

b mount -t proc proc "$new/proc"
b mount -t sysfs -o ro sysfs "$new/sys"
b mount -t tmpfs -o mode=755 tmpfs "$new/sys/fs/cgroup"
for hierarchy in $HIERARCHIES; do
  b mkdir -p "$new/sys/fs/cgroup/$hierarchy"
  case $hierarchy in
    systemd) options=none,name=systemd ;;
    *) options=$hierarchy ;;
  esac
  b mount -t cgroup -o "$options" cgroup "$new/sys/fs/cgroup/$hierarchy"
done

# Devices that harm nobody, and no other of the machine's. The kubelet wants to read the kernel's messages.
b mount -t tmpfs -o mode=755 tmpfs "$new/dev"
for device in null zero full random urandom tty kmsg; do b cp -a "/dev/$device" "$new/dev/$device"; done
b mkdir -p "$new/dev/pts" "$new/dev/shm"
b mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$new/dev/pts"
b ln -s pts/ptmx "$new/dev/ptmx"
b mount -t tmpfs tmpfs "$new/dev/shm"
b mount -t tmpfs -o mode=755 tmpfs "$new/run"
b mount -t tmpfs -o mode=1777 tmpfs "$new/tmp"

# An overlay cannot lie on an overlay, so what containers are made of lies beside it.
for kept in containerd kubelet; do b mount --bind "$STATE/$kept" "$new/var/lib/$kept"; done
b mount --bind "$STATE/log" "$new/var/log"
b mount --bind "$STATE/volumes" "$new/var/volumes"
b mount --bind "$STATE/conf" "$new/etc/berth"
# Other nodes have these too. A bind mount takes its options only when it is mounted once more.
for shared in bin images; do
  b mount --bind "$PROGRAMS/$shared" "$new/opt/berth/$shared"
  b mount -o remount,bind,ro none "$new/opt/berth/$shared"
done

cd "$new"
b pivot_root . old
# The environment is the machine's; its folders are not there any more.
exec /bin/busybox env -i NODE="$NODE" NAMESERVER="$NAMESERVER" PATH=/opt/berth/bin:/usr/sbin:/usr/bin HOME=/root /bin/busybox sh /etc/berth/node.sh
