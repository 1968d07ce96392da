# A router and a machine behind it, each in a network namespace: nothing leaves.
#
#   machine 10.9.0.2 ── 10.9.0.1 router 5.6.7.8 ── nobody
#
# The router is Debian's miniupnpd, with nftables. To be sourced by a bash with -eu in a
# namespace of its own, which is the router's. $machine is a process on the machine, there
# runs a program on it, forwards says how many ports the router has opened. With IGD1=yes
# it is a gateway of UPnP's first version.
folder=$(mktemp -d)
ip link set lo up
ip link add lan0 type veth peer name machine0
ip link add wan0 type veth peer name nobody0
unshare -n sleep 300 &
machine=$!
trap 'kill $machine ${router-}; wait; rm -r "$folder"' EXIT # the router removes its own file as it ends
until [ "$(readlink /proc/$machine/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
ip link set machine0 netns $machine
ip addr add 10.9.0.1/24 dev lan0
ip addr add 5.6.7.8/24 dev wan0 # routers refuse to serve with an address that is not public
for card in lan0 wan0 nobody0; do ip link set $card up; done
there() { nsenter -t $machine -n "$@"; }
there ip link set lo up
there ip addr add 10.9.0.2/24 dev machine0
there ip link set machine0 up
there ip route add default via 10.9.0.1

nft -f - <<'X'
table inet filter {
  chain miniupnpd { }
  chain prerouting_miniupnpd { }
  chain postrouting_miniupnpd { }
  chain forward { type filter hook forward priority 0; policy drop; jump miniupnpd; }
  chain prerouting { type nat hook prerouting priority -100; jump prerouting_miniupnpd; }
  chain postrouting { type nat hook postrouting priority 100; jump postrouting_miniupnpd; }
}
X
cat >"$folder/miniupnpd.conf" <<X
ext_ifname=wan0
listening_ip=lan0
enable_natpmp=yes
enable_upnp=yes
secure_mode=yes
force_igd_desc_v1=${IGD1:-no}
uuid=9c4a7a3e-1111-2222-3333-444444444444
serial=1
min_lifetime=120
max_lifetime=86400
allow 1024-65535 10.9.0.0/24 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
X
miniupnpd -f "$folder/miniupnpd.conf" -d -P "$folder/pid" >"$folder/log" 2>&1 &
router=$!
for _ in $(seq 100); do grep -q 'Listening for NAT-PMP' "$folder/log" && break; sleep 0.05; done

forwards() { nft list chain inet filter prerouting_miniupnpd | grep -c dnat || true; }
