package conn_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/host/wire/conn"
)

// TestSlowLine checks that a reader waits for a long message as long as parts of it come, and no
// longer.
func TestSlowLine(t *testing.T) {
	report := wire.Report{Round: 1}
	for server := range 3000 {
		report.Results = append(report.Results, discovery.Result{
			Server: server,
			State:  discovery.Answered,
			RTT:    time.Duration(server+1) * time.Millisecond,
		})
	}
	message, err := wire.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	frame := binary.BigEndian.AppendUint16([]byte{0x82, 0x80 | 126}, uint16(len(message.Data))) // RFC 6455, section 5.2
	frame = append(append(frame, 0, 0, 0, 0), message.Data...)
	for _, stops := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			hostWS, peerWS := pair(t)
			host := conn.New(hostWS, conn.AtHost)
			host.Admit()
			moved, heard := 0, make(chan wire.Message, 1)
			host.OnMoving(func() { moved++ })
			ended := start(t.Context(), host, func(m wire.Message) error { heard <- m; return nil })
			began, line := time.Now(), peerWS.NetConn()
			defer line.Close()
			for part := range slices.Chunk(frame, 512) {
				if stops && time.Since(began) > time.Minute {
					break
				}
				if _, err := line.Write(part); err != nil {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				time.Sleep(10 * time.Second)
			}
			if stops {
				if err := <-ended; err == nil || time.Since(began) > 2*time.Minute {
					t.Errorf("after %v the host says %v", time.Since(began), err)
				}
				return
			}
			if m, is := (<-heard).(wire.Report); !is || len(m.Results) != len(report.Results) {
				t.Errorf("the host heard a %T", m)
			}
			if took := time.Since(began); took < 2*time.Minute || moved < 10 {
				t.Errorf("in %v the host noticed %d times that something comes", took, moved)
			}
			line.Close()
			<-ended
		})
	}
}

// TestSlowUplink checks that a player may take long to send a long message.
func TestSlowUplink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hostWS, peerWS := pair(t)
		peer := conn.New(peerWS, conn.AtPeer)
		report := wire.Report{Round: 1}
		for server := range 60_000 {
			report.Results = append(report.Results, discovery.Result{
				Server: server,
				State:  discovery.Answered,
				RTT:    time.Duration(1+server%50) * time.Millisecond,
			})
		}
		ended := start(t.Context(), peer, ignore)
		message, err := wire.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		peer.SendFrame(message)
		line, read, began := hostWS.NetConn(), 0, time.Now()
		defer line.Close()
		for n := 0; read < len(message.Data); n++ { // 2 KB a second
			got, err := line.Read(make([]byte, 4096))
			if err != nil {
				t.Fatalf("after %d bytes in %v: %v, %v", read, time.Since(began), err, <-ended)
			}
			read += got
			if time.Sleep(2 * time.Second); n%5 == 0 {
				line.Write([]byte{0x89, 0}) // a ping, which shows that the host lives
			}
		}
		line.Close()
		<-ended
	})
}
