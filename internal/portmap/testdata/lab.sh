# Asks the router of router.sh. Usage, in a namespace of its own: unshare -n bash lab.sh
# PROGRAM PROTOCOL…, where PROGRAM opens port 7777 by the protocol in
# MUSTER_PORTMAP_TEST_WAY until its standard input ends. What the router forwards is
# printed while the port is open, and after.
set -eu
. "$(dirname "$0")/router.sh"
program=$1
shift
mkfifo "$folder/stdin"
for way in "$@"; do
  MUSTER_PORTMAP_TEST_WAY=$way there "$program" <"$folder/stdin" >"$folder/told" &
  asker=$!
  exec 3>"$folder/stdin"
  for _ in $(seq 200); do [ -s "$folder/told" ] && break; sleep 0.05; done
  echo "$way: $(cat "$folder/told"), forwards: $(forwards)"
  exec 3>&-
  wait $asker || tail -5 "$folder/log"
  echo "$way ended, forwards: $(forwards)"
  : >"$folder/told"
done
