# A host and a player, each in a network namespace, on one cable: nothing leaves.
# Usage, in a namespace of its own: unshare -n bash network.sh MUSTER
set -u
muster=$1
folder=$(mktemp -d)
echo 127.0.0.1:27960 >"$folder/servers.txt"
unshare -n sleep 900 &
player=$!
trap 'kill $player ${host-} ${joined-} 2>/dev/null; wait; rm -r "$folder"' EXIT
ip link set lo up
ip link add cable0 type veth peer name cable1
until [ "$(readlink /proc/$player/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
ip link set cable1 netns $player
ip addr add 10.9.0.1/24 dev cable0
ip link set cable0 up
there() { nsenter -t $player -n "$@"; }
there ip link set lo up
there ip addr add 10.9.0.2/24 dev cable1
there ip link set cable1 up

open() { # NAME OPTION…
  rm -f "$folder/host.out" # the shell empties it later than this looks for the code
  HOME=$folder/$1 XDG_STATE_HOME=$folder/$1/state "$muster" host --game openarena --servers "$folder/servers.txt" \
    --name olga --no-play --no-browser --players 4 --room "$@" >"$folder/host.out" 2>&1 &
  host=$!
  for _ in $(seq 1200); do grep -qs '^code' "$folder/host.out" && break; sleep 0.05; done
  code=$(awk '/^code/ { print $2 }' "$folder/host.out")
  if [ -z "$code" ]; then cat "$folder/host.out"; fi
}
join() { # PLAYER OPTION…
  name=$1
  shift
  HOME=$folder/$name XDG_STATE_HOME=$folder/$name/state there timeout 60 "$muster" join --name "$name" --launch never "$@" 2>&1
}

open Friday --tls
printf 'y\n%s\n' "$code" | join bob >"$folder/bob.out" &
joined=$!
for _ in $(seq 1200); do grep -qs 'bob is here' "$folder/bob.out" && break; sleep 0.05; done
cat "$folder/bob.out"
echo n | join cat
join cat </dev/null
kill $host $joined
wait $host

open Open --open
echo y | join cat >"$folder/cat.out" &
joined=$!
for _ in $(seq 1200); do grep -qs 'cat is here' "$folder/cat.out" && break; sleep 0.05; done
cat "$folder/cat.out"
kill $joined
wait $joined
# A firewall that drops IPv4 alone: the host has other addresses.
nft 'add table inet f; add chain inet f i { type filter hook input priority 0; }; add rule inet f i ip daddr 10.9.0.1 tcp dport 7777 drop'
echo y | join dan >"$folder/dan.out" &
joined=$!
for _ in $(seq 1200); do grep -qs 'dan is here' "$folder/dan.out" && break; sleep 0.05; done
cat "$folder/dan.out"
nft flush ruleset
kill $host $joined
wait $host

join cat </dev/null

# A network of IPv6 alone: the link leads there.
ip addr flush dev cable0 scope global
ip addr add 2001:db8:9::1/64 dev cable0 nodad
there ip addr flush dev cable1 scope global
there ip addr add 2001:db8:9::2/64 dev cable1 nodad
open Six
join eve "$(awk '/^link/ { print $2 }' "$folder/host.out")" >"$folder/eve.out" &
joined=$!
for _ in $(seq 1200); do grep -qs 'eve is here' "$folder/eve.out" && break; sleep 0.05; done
cat "$folder/eve.out"
kill $host $joined
wait $host
exit 0
