# The first process of a node, in the node's own files: it sets up the network, starts what a node runs, and starts it again if it ends.
# Variables: NODE (its name), NAMESERVER (reached by the way out of the node's network; empty where there is none).
set -eu

b() { /bin/busybox "$@"; }

cd /
b umount -l /old
b rmdir /old
b mount --make-rshared /

# These settings are the whole machine's. The kubelet is shown the values that it would write.
show() {
  shown="/run/shown-$(echo "$1" | b tr / -)"
  echo "$2" > "$shown"
  b mount --bind "$shown" "/proc/sys/$1"
}
show vm/overcommit_memory 1
show vm/panic_on_oom 0
show kernel/panic 10
show kernel/panic_on_oops 1
show kernel/keys/root_maxkeys 1000000
show kernel/keys/root_maxbytes 25000000

b hostname "$NODE"
b ip link set lo up
b brctl addbr cni0
# A bridge takes the lowest address of what is tied to it, unless one is set: as pods come and go it would change, and pods would send to
# the former one for ten seconds or more.
b ip link set cni0 address 0a:58:0a:f4:00:01
b ip addr add 10.244.0.1/24 dev cni0
b ip link set cni0 up
# Without a route the addresses of Services would be unreachable; a way out has one that comes first.
b ip route add default via 10.244.0.1 dev cni0 metric 1000
if [ -n "$NAMESERVER" ]; then
  echo "nameserver $NAMESERVER" >> /etc/resolv.conf
  b sed "s/^}/  forward . $NAMESERVER\n}/" /etc/berth/Corefile > /run/Corefile
  # There clouds tell the machine its secrets.
  for chain in FORWARD OUTPUT; do iptables -A "$chain" -o tap0 -d 169.254.0.0/16 -j REJECT; done
  iptables -t nat -A POSTROUTING -s 10.244.0.0/24 -o tap0 -j MASQUERADE
else
  b cp /etc/berth/Corefile /run/Corefile
fi
echo 1 > /proc/sys/net/ipv4/ip_forward
# What one pod sends another stays on the bridge: without this neither Services nor NetworkPolicies would see it.
echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables

# Whatever ends is started again. It may end because the API server is not up yet.
keep() {
  name=$1
  shift
  while :; do
    "$@" >> "/var/log/$name.log" 2>&1 || true
    b sleep 1
  done &
}

trap 'exit 0' TERM
keep containerd containerd --config /etc/berth/containerd.toml
until ctr version > /dev/null 2>&1; do b sleep 0.1; done

# Of an earlier run, whose processes are gone: the kubelet makes pods anew, and would wait for these to end.
ctr -n k8s.io containers ls -q | b xargs -r ctr -n k8s.io containers rm
ctr -n k8s.io sandboxes ls | b awk 'NR > 1 {print $1}' | b xargs -r ctr -n k8s.io sandboxes rm
for image in /opt/berth/images/*.tar; do
  name="localhost/$(b basename "$image" .tar):1"
  ctr -n k8s.io images ls -q | b grep -qxF "$name" || ctr -n k8s.io images import "$image"
done

# Who asks before there is anybody to answer waits longer each time until it asks again.
port=$(b sed -n 's/.*"server": "https:[^"]*:\([0-9]*\)".*/\1/p' /etc/berth/admin.kubeconfig)
until b nc -w 1 127.0.0.1 "$port" < /dev/null 2> /dev/null; do b sleep 0.1; done

# The node is not ready before it can answer for names: a pod would ask in vain, or be answered by somebody else outside.
keep dns dns -conf /run/Corefile
until b wget -q -O /dev/null http://127.0.0.1:8181/ready 2> /dev/null; do b sleep 0.1; done

keep kubelet kubelet --config=/etc/berth/kubelet.yaml --kubeconfig=/etc/berth/kubelet.kubeconfig --hostname-override="$NODE" \
  --node-ip=10.244.0.1 --cert-dir=/var/lib/kubelet/pki
keep kube-proxy kube-proxy --config=/etc/berth/kube-proxy.yaml --hostname-override="$NODE"
keep storage storage /etc/berth/admin.kubeconfig "$NODE" /var/volumes
# The firewall reads and writes whole tables, so it gets those of the older iptables, and kube-proxy those of nftables. A packet passes both.
b mkdir /run/legacy
for name in iptables iptables-save iptables-restore; do b ln -s /usr/sbin/xtables-legacy-multi "/run/legacy/$name"; done
keep network-policies b env PATH="/run/legacy:$PATH" network-policies /etc/berth/admin.kubeconfig "$NODE" 10.244.0.1 10.96.0.0/16
wait
