package history

import (
	"encoding/json"
	"fmt"
	"io"

	"muster/discovery"
	"muster/discovery/topology"
)

// MemoryFormat is the format of the memories that this package reads and writes.
const Format = "muster.memory/1"

// maxMemoryFile is the largest file, in bytes, that is read.
const maxMemoryFile = 256 * maxMemory

// memoryFile is a memory as a document:
//
//	{"format":"muster.memory/1","networks":[
//	 {"prefix":"192.0.2.0/24","rtt_ms":12.345,"seen":"2008-05-28T20:00:00Z"},…]}
type memoryFile struct {
	Format   string `json:"format"`
	Networks Memory `json:"networks"`
}

// WriteJSON writes the memory as one line of JSON.
func (m Memory) WriteJSON(w io.Writer) error {
	return json.NewEncoder(w).Encode(memoryFile{Format, m})
}

// ReadMemory reads a memory. Everything that no visit can have left is an error
// that wraps [ErrMalformed].
func Read(r io.Reader) (Memory, error) {
	var file memoryFile
	if err := json.NewDecoder(io.LimitReader(r, maxMemoryFile)).Decode(&file); err != nil {
		return nil, fmt.Errorf("discovery: memory: %w: %w", discovery.ErrMalformed, err)
	}
	if file.Format != Format {
		return nil, fmt.Errorf("discovery: memory: %w: the format is %q", discovery.ErrMalformed, discovery.CleanText(file.Format))
	}
	if len(file.Networks) > maxMemory {
		return nil, fmt.Errorf("discovery: memory: %w: over %d networks", discovery.ErrMalformed, maxMemory)
	}
	for i, n := range file.Networks {
		if !n.Prefix.IsValid() || n.Prefix != topology.Prefix24.Prefix(n.Prefix.Addr()) || n.RTT == 0 || n.Seen.IsZero() {
			return nil, fmt.Errorf("discovery: memory: %w: network %d (%v)", discovery.ErrMalformed, i+1, n.Prefix)
		}
	}
	return file.Networks, nil
}
