package cli

import (
	"encoding/json"
	"testing"

	"muster/host/wire"
	"muster/peer"
)

// FuzzHostileRoom: whatever a host says of its room, the player's screen copes.
func FuzzHostileRoom(f *testing.F) {
	for _, text := range []string{
		`{"type":"room","stage":"refining","by":"mean","search":{"found":true,"gain_ms":-1e300},"members":[{"probed":-9223372036854775808}]}`,
		`{"type":"room","stage":"launching","by":"dice","selection":{"chosen":{},"ranking":[{"addr":"192.0.2.1:1"}],"why":{"without":{"addr":"192.0.2.1:1"},"rivals":[{"by":["dice"],"tight":true}]}}}`,
		`{"type":"room","stage":"failed","selection":{"why":{"rivals":[{"tight":true}],"relax":[{"give":"full"}],"nearest":{"obstacles":[{"players":["ann"]}]}}}}`,
		`{"type":"room","stage":"failed","selection":{"keep":{"stays":true,"gain_ms":1}},"log":[{"text":"\u001b[2J"}]}`,
	} {
		if !json.Valid([]byte(text)) {
			f.Fatalf("%s is no JSON", text)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := wire.Unmarshal(wire.Frame{Data: text})
		room, isRoom := m.(wire.Room)
		if err != nil || !isRoom {
			return
		}
		s, _ := testScreen()
		n := &narrator{screen: s}
		n.show(peer.Progress{Probed: 1, Answered: 1, Listed: 2})
		n.show(peer.RoomChanged{Room: wire.Room{Stage: wire.Gathering}})
		n.show(peer.RoomChanged{Room: room})
		n.show(peer.Progress{Probed: 2, Answered: 1, Listed: 2})
	})
}
