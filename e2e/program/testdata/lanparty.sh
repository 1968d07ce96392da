# A LAN party: an OpenArena server and a player on the host's network, and a
# player on the internet, each in a network namespace: nothing leaves.
#
#   server 10.9.0.3 ─┬─ 10.9.0.1 host and router 198.51.100.2 ── 198.51.100.1 zoe
#   ann    10.9.0.2 ─┘   forwards UDP 27960, from outside only
#
# Usage, in a namespace of its own: unshare -n bash lanparty.sh MUSTER
set -u
muster=$1
folder=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null; wait; rm -r "$folder"' EXIT
ip link set lo up
ip link add br0 type bridge
ip addr add 10.9.0.1/24 dev br0
ip link set br0 up
machine() { # NAME ADDRESS GATEWAY: in the variable NAME the process to enter
  unshare -n sleep 900 &
  pids="$pids $!"
  until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.02; done
  ip link add "$1" type veth peer name eth0 netns $!
  nsenter -t $! -n ip link set lo up
  nsenter -t $! -n ip addr add "$2/24" dev eth0
  nsenter -t $! -n ip link set eth0 up
  ip link set "$1" up
  if [ -n "$3" ]; then nsenter -t $! -n ip route add default via "$3"; fi
  eval "$1=$!"
}
machine server 10.9.0.3 10.9.0.1
machine ann 10.9.0.2 "" # no way to the internet
machine zoe 198.51.100.1 ""
ip addr add 198.51.100.2/24 dev zoe
ip link set server master br0
ip link set ann master br0
echo 1 >/proc/sys/net/ipv4/ip_forward
# Nor is there a way in but the forwarded port.
nft -f - <<'X'
table ip raw {
  chain prerouting { type filter hook prerouting priority -300; iifname "zoe" ip daddr 10.9.0.0/24 drop; }
}
table ip nat {
  chain prerouting { type nat hook prerouting priority -100; iifname "zoe" udp dport 27960 dnat to 10.9.0.3:27960; }
}
X
nsenter -t $server -n /usr/lib/ioquake3/ioq3ded +set com_basegame baseoa +set fs_basepath /usr/lib/openarena-server \
  +set fs_homepath "$folder/server" +set com_homepath home +set com_legacyprotocol 71 +set com_protocol 71 +set cl_motd 0 \
  +set ttycon 0 +set dedicated 1 +set net_enabled 1 +set net_port 27960 +set sv_master1 "" +set sv_master2 "" \
  +set sv_hostname "Basement" +set com_hunkMegs 64 +set sv_maxclients 8 +map oa_dm1 >"$folder/server.out" 2>&1 &
pids="$pids $!"
for _ in $(seq 1200); do grep -q -e 'AAS initialized' -e 'Game Initialization' "$folder/server.out" && break; sleep 0.05; done

muster_of() { # NAME ARGUMENT…: on the machine of that name, or here
  who=$1
  shift
  export HOME=$folder/$who XDG_STATE_HOME=$folder/$who/state
  if [ "$who" = host ]; then timeout 150 "$muster" "$@" 2>&1; else eval "nsenter -t \$$who -n timeout 150 \"\$muster\" \"\$@\" 2>&1"; fi
}
night() { # OPTION…: both play a round, and what they were told is shown
  rm -f "$folder/host.out" # the shell empties it later than this looks for the code
  muster_of host host --game openarena --listen :7777 --no-play --no-browser --no-mdns --players 2 --once --new "$@" >"$folder/host.out" &
  host=$!
  for _ in $(seq 1200); do grep -qs '^code' "$folder/host.out" && break; sleep 0.05; done
  code=$(awk '/^code/ { print $2 }' "$folder/host.out")
  muster_of ann join 10.9.0.1 --code "$code" --name ann --launch never --once >"$folder/ann.out" &
  first=$!
  muster_of zoe join 198.51.100.2 --code "$code" --name zoe --launch never --once >"$folder/zoe.out" &
  second=$!
  wait $host $first $second
  for who in host ann zoe; do sed "s/^/$who: /" "$folder/$who.out"; done
}

echo "== alone, without internet"
muster_of ann discover --game openarena
echo "== alone, with a list of one's own"
echo 10.9.0.77:27960 >"$folder/other.txt"
muster_of ann discover --game openarena --servers "$folder/other.txt" --retries 0
echo "== two addresses"
echo 198.51.100.2:27960 >"$folder/servers.txt"
night --servers "$folder/servers.txt" --lan on --public-url http://198.51.100.2:7777
echo "== hidden"
night --servers "$folder/other.txt" --lan on
