package far

import (
	"fmt"

	"muster/discovery"
)

// marked is a protocol like Quake 3's: the reply returns our nonce.
//
//	ask NONCE  ->  info NONCE
type marked struct{}

func (marked) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return fmt.Appendf(b, "ask %016x", uint64(nonce))
}

func (marked) Parse(datagrams [][]byte) (discovery.Reply, error) {
	var nonce uint64
	if _, err := fmt.Sscanf(string(datagrams[0]), "info %x", &nonce); err != nil {
		return discovery.Reply{}, fmt.Errorf("marked: %w", discovery.ErrMalformed)
	}
	return discovery.Reply{Nonce: discovery.Nonce(nonce), Echoed: true, Info: &discovery.Info{}}, nil
}
