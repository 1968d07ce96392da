package host

import (
	"encoding/json"
	"errors"
	"fmt"

	"muster/discovery"
	"muster/host/wire"
)

// saved is a room at rest: its fields as JSON, its long columns as the same
// binary frames that travel.
type saved struct {
	Room    *Room    `json:"room"`
	List    []byte   `json:"list,omitempty"`
	Infos   []byte   `json:"infos,omitempty"`
	Reports [][]byte `json:"reports,omitempty"` // by member
	Traces  [][]byte `json:"traces,omitempty"`  // by member
}

// Save is the whole room as bytes, for [Restore].
func (r *Room) Save() ([]byte, error) {
	s := saved{Room: r}
	messages := []struct {
		to      *[]byte
		message wire.Message
	}{
		{&s.List, wire.List{Round: r.Round, Servers: r.Servers}},
		{&s.Infos, wire.Infos{Round: r.Round, Servers: r.knownInfos()}},
	}
	for _, m := range messages {
		frame, err := wire.Marshal(m.message)
		if err != nil {
			return nil, err
		}
		*m.to = frame.Data
	}
	for _, m := range r.Members {
		frame, err := wire.Marshal(wire.Report{Round: r.Round, Results: r.measured(m)})
		if err != nil {
			return nil, err
		}
		s.Reports = append(s.Reports, frame.Data)
		s.Traces = append(s.Traces, wire.AppendReport(nil, wire.Report{Round: r.Round, Results: m.Probes}))
	}
	return json.Marshal(s)
}

func (r *Room) knownInfos() []wire.ServerInfo {
	var infos []wire.ServerInfo
	for server, info := range r.Infos {
		if info != nil {
			infos = append(infos, wire.ServerInfo{Server: server, Info: *info})
		}
	}
	return infos
}

// Restore is the room that was saved. Nobody is connected to it.
func Restore(data []byte) (*Room, error) {
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("host: saved room: %w", err)
	}
	if s.Room == nil || len(s.Reports) != len(s.Room.Members) || !s.Room.isWhole() {
		return nil, errors.New("host: saved room: incomplete")
	}
	if err := s.Room.unpack(s); err != nil {
		return nil, fmt.Errorf("host: saved room %s: %w", s.Room.Code, err)
	}
	return s.Room, nil
}

// isWhole tells that what the stage needs is there.
func (r *Room) isWhole() bool {
	switch r.Stage {
	case wire.Chosen:
		return r.Final != nil && r.Selection != nil && r.Selection.Chosen != nil
	case wire.Launching:
		return r.Launch != nil
	}
	return true
}

func (r *Room) unpack(s saved) error {
	list, err := unmarshal[wire.List](s.List)
	if err != nil {
		return err
	}
	infos, err := unmarshal[wire.Infos](s.Infos)
	if err != nil {
		return err
	}
	r.Servers = list.Servers
	r.Infos = make([]*discovery.Info, len(r.Servers))
	if err := r.inform(infos); err != nil {
		return err
	}
	if !r.placesNeighbours() {
		return errors.New("a neighbour outside the list")
	}
	for i, m := range r.Members {
		report, err := unmarshal[wire.Report](s.Reports[i])
		if err != nil {
			return err
		}
		if err := m.restore(report.Results, len(r.Servers)); err != nil {
			return err
		}
		r.shutOut(m, m.Origin.Near)
		if i < len(s.Traces) {
			trace, err := unmarshal[wire.Report](s.Traces[i])
			if err != nil {
				return err
			}
			m.Probes = trace.Results
		}
	}
	return nil
}

func (m *Member) restore(results []discovery.Result, servers int) error {
	m.Connected = false
	m.Results = make([]discovery.Result, servers)
	m.Probed, m.Answered = 0, 0
	for _, result := range results {
		if result.Server >= servers {
			return fmt.Errorf("%s has server %d of %d", m.Name, result.Server, servers)
		}
		m.add(result)
	}
	return nil
}

func unmarshal[M wire.Message](data []byte) (M, error) {
	var none M
	message, err := wire.Unmarshal(wire.BinaryFrame(data))
	if err != nil {
		return none, err
	}
	m, ok := message.(M)
	if !ok {
		return none, fmt.Errorf("a %T where a %T should be", message, none)
	}
	return m, nil
}
