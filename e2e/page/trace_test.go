package page_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// TestHostileTrace checks the page's decoder with corrupted frames. It ends, keeps no more than the
// frame has bytes for, and nothing that cannot be drawn.
func TestHostileTrace(t *testing.T) {
	t.Parallel()
	var report wire.Report
	for i := range 200 {
		report.Results = append(report.Results, discovery.Result{
			Server: i * 7 % 100, State: discovery.State(1 + i%4), RTT: time.Duration(i) * time.Millisecond, At: time.Duration(i) * time.Second,
		})
	}
	whole := wire.AppendReport(append([]byte{3}, "ann"...), report)
	random := rand.New(rand.NewPCG(1, 2))
	var frames []byte
	for range 20_000 {
		frame := bytes.Clone(whole[:random.IntN(len(whole)+1)])
		for range random.IntN(8) {
			if len(frame) > 0 {
				frame[random.IntN(len(frame))] = byte(random.Uint32())
			}
		}
		if random.IntN(4) == 0 { // the longest numbers where the counts are
			frame = append(frame[:min(len(frame), 4+random.IntN(8))], bytes.Repeat([]byte{0xff}, random.IntN(400))...)
		}
		frames = append(binary.LittleEndian.AppendUint32(frames, uint32(len(frame))), frame...)
	}
	const script = `
		import { readFileSync } from "node:fs";
		import { Clouds } from "../../web/static/trace.js";
		const all = readFileSync(0);
		for (let at = 0, n; at < all.length; at += 4 + n) {
			n = all.readUInt32LE(at);
			const clouds = new Clouds();
			clouds.read(new Uint8Array(all.subarray(at + 4, at + 4 + n)).buffer);
			for (const cloud of clouds.byPlayer.values()) {
				if (cloud.length > n / 3) throw new Error(cloud.length + " points of " + n + " bytes");
				for (let i = 0; i < cloud.length; i++) {
					if (!Number.isFinite(cloud.time[i]) || !Number.isFinite(cloud.rtt[i])) throw new Error("a point at " + cloud.time[i] + ", " + cloud.rtt[i]);
				}
				cloud.sorted();
			}
		}`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "--input-type=module", "-e", script)
	node.Stdin = bytes.NewReader(frames)
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
