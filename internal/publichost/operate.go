package publichost

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"muster/host"
	"muster/host/operating"
	"muster/internal/hint"
	"muster/internal/userfile"
)

// The operator's requests come on a listener of their own, on loopback: no proxy reaches it, and no
// setting opens it to others. Its port is any free one, and stands in a file that the command reads.
//
//	rooms.db.operators   a key a line, which the host makes when it first starts
//	rooms.db.operate     where the running host listens

// doorEnd ends the name of the file with the address.
const doorEnd = ".operate"

// operatorFiles returns the file of operators' keys, and that of the running host's address. Hosts that
// share NATS have them in the state folder: the keys of all hosts on the machine, and an address each.
func (s *Settings) operatorFiles() (keys, door string, err error) {
	if s.Cluster.URL == "" {
		rooms, err := s.roomsFile()
		return rooms + ".operators", rooms + doorEnd, err
	}
	if err := s.NameNode(); err != nil {
		return "", "", err
	}
	keys, err = userfile.State("operators")
	return keys, filepath.Join(filepath.Dir(keys), s.Cluster.Node+doorEnd), err
}

// readKeys reads the operators' keys.
func readKeys(file string) (operating.Keys, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return operating.ReadKeys(bytes.NewReader(data))
}

// operate answers operators until end is called. A host that cannot do so still holds rooms.
func (h *Host) operate(rooms *host.Host) (end func()) {
	end, err := h.beginOperating(rooms)
	if err != nil {
		h.log.Warn("no operator can see or change rooms", "error", hint.Plain(err.Error()))
		return func() {}
	}
	return end
}

func (h *Host) beginOperating(rooms *host.Host) (end func(), err error) {
	keys, door, err := h.operatorFiles()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(keys); errors.Is(err, fs.ErrNotExist) {
		if err := userfile.Replace(keys, []byte(operating.NewKey("operator"))); err != nil {
			return nil, err
		}
	}
	if _, err := readKeys(keys); err != nil {
		return nil, fmt.Errorf("%s: %w", keys, err)
	}
	listener, err := listenAtHome()
	if err != nil {
		return nil, err
	}
	if err := userfile.Replace(door, []byte(listener.Addr().String()+"\n")); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler: rooms.Desk(func() (operating.Keys, error) { return readKeys(keys) }), ReadTimeout: 10 * time.Second, MaxHeaderBytes: 4 << 10,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(listener)
	}()
	h.log.Debug("operators are answered", "at", listener.Addr().String())
	return func() {
		os.Remove(door) // a later start replaces it
		server.Close()
		<-served
	}, nil
}

// listenAtHome listens on loopback, at any free port.
func listenAtHome() (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		listener, err = net.Listen("tcp", "[::1]:0")
	}
	return listener, err
}

// Operator returns a way to the host that runs with these settings, by the key in a file; if that is
// empty, by the host's own.
func (s *Settings) Operator(keyFile string) (at, key string, err error) {
	keys, door, err := s.operatorFiles()
	if err != nil {
		return "", "", err
	}
	if keyFile == "" {
		keyFile = keys
	}
	text, err := os.ReadFile(door)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", hint.With(fmt.Errorf("no muster serve runs here: there is no %s", door),
			"say where it keeps its rooms, as muster serve was told: --store FILE, or --nats URL and --node NAME")
	case err != nil:
		return "", "", hint.With(fmt.Errorf("%s: %w", door, hint.Reason(err)), "run the command as the user who runs muster serve")
	}
	data, err := os.ReadFile(keyFile)
	if err == nil {
		key, err = operating.FirstKey(bytes.NewReader(data))
	}
	if err != nil {
		return "", "", hint.With(fmt.Errorf("%s: %w", keyFile, hint.Reason(err)),
			"run the command as the user who runs muster serve, or say --key-file FILE with a line NAME KEY that is in "+keys)
	}
	return strings.TrimSpace(string(text)), key, nil
}

// Places returns the files of the rooms, and of the running host's address for operators. It makes no
// folder.
func (s *Settings) Places() (rooms, door string) {
	folder := filepath.Join(xdg.StateHome, "muster")
	if rooms = s.Store; rooms == "" {
		rooms = filepath.Join(folder, "rooms.db")
	}
	if s.Cluster.URL == "" {
		return rooms, rooms + doorEnd
	}
	named := Settings{Cluster: s.Cluster}
	named.NameNode() // on failure it has none, and no file
	return rooms, filepath.Join(folder, named.Cluster.Node+doorEnd)
}
