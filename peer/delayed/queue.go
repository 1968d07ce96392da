package delayed

import (
	"bytes"
	"time"
)

// Limits of a queue. A game sends 20 to 125 packets a second each way, of 50 to 1,400 bytes; so much
// comes in a second only of a game that downloads a map.
const (
	maxPackets = 1024
	maxBytes   = 1 << 20
)

// queue holds the packets of one direction. All of them are held for the same time, so they leave in
// the order in which they came, whatever changes the time meanwhile.
type queue struct {
	packets []packet
	bytes   int
}

type packet struct {
	came time.Duration // since the line's opening
	data []byte
}

// add appends a packet. It reports whether there was room.
func (q *queue) add(came time.Duration, data []byte) bool {
	if len(q.packets) >= maxPackets || q.bytes+len(data) > maxBytes {
		return false
	}
	q.bytes += len(data)
	q.packets = append(q.packets, packet{came, bytes.Clone(data)})
	return true
}

// take removes the first packet if it has been held long enough. Otherwise data is nil, and wait is the
// time until then, which is forever in an empty queue.
func (q *queue) take(held, now time.Duration) (data []byte, wait time.Duration) {
	if len(q.packets) == 0 {
		return nil, forever
	}
	first := q.packets[0]
	if wait = first.came + held - now; wait > 0 {
		return nil, wait
	}
	q.packets[0].data = nil
	q.packets, q.bytes = q.packets[1:], q.bytes-len(first.data)
	return first.data, 0
}
