// Package handout gives Muster's programs to those who have none yet: the host's own to
// who has the same system, and others' builds that lie in a folder beside it. On a LAN
// without internet this is how everyone gets it.
//
//	GET  /get/                a page for people
//	GET  /get/programs.json   what there is, and which of it the visitor's system takes
//	GET  /get/SYSTEM          a program
//	POST /get/SYSTEM          a program that knows the room whose link the body is
//
// A program that knows its room has the link in its name (see [muster/internal/invite]),
// so that its bytes stay those that were signed. Windows starts it as it is; for macOS
// and Linux it is packed, as only archives carry that a file may be run.
package handout

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/invite"
)

// Origin is who vouches for a program.
type Origin string

const (
	// Project: the project has signed it.
	Project Origin = "project"
	// Friend: whoever runs the host has it from somewhere.
	Friend Origin = "friend"
)

// Config is what a handout needs of its surroundings.
type Config struct {
	// Version is this build's, for people.
	Version string
	// Release is the address of the project's releases, or empty.
	Release string
	// Own is the file of the running program, or empty.
	Own string
	// Folder holds others' builds, or is empty.
	Folder string
	// Vouch says who vouches for a file; nil knows nobody.
	Vouch func(file string) (Origin, error)
	// Warn is told what of the folder is not given, and why.
	Warn func(...error)
}

// Handout is an [http.Handler] for all below /get/.
type Handout struct {
	config   Config
	programs []program
	slots    chan struct{}
	// vouch finds out who vouches for the programs, which reads all of them, once
	// somebody wants to know.
	vouch func()
}

// program is one that can be given.
type program struct {
	System string `json:"system"`
	// Name is what people call the system, and File the ending of what they get.
	Name   string `json:"name"`
	File   string `json:"file"`
	Size   int64  `json:"size"`
	Origin Origin `json:"origin"`
	// Advice says what the system asks before it starts a new program, and what to do.
	Advice string `json:"advice"`

	file    string
	data    *os.File
	changed time.Time
}

const (
	// atOnce is how many programs are given at the same time: each may take all of the
	// line that the group measures by.
	atOnce = 16
	// giveTime is how long one may take: 31 MB over the slowest line that plays.
	giveTime = 10 * time.Minute
	// maxLink bounds the link of a room, in bytes.
	maxLink = 2 << 10
	// maxFiles bounds how many files of a folder are looked at: all systems, each with
	// a signature, and some that do not belong there.
	maxFiles = 64
)

// New looks through the folder. What is found there stays open, so that what was looked
// at is what is given.
func New(config Config) (*Handout, error) {
	h := &Handout{config: config, programs: []program{}, slots: make(chan struct{}, atOnce)}
	if config.Folder != "" {
		if err := h.lookThrough(); err != nil {
			h.Close()
			return nil, err
		}
	}
	if config.Own != "" {
		if data, err := os.Open(config.Own); err == nil { // or it has been deleted, and others' builds are left
			if !h.add(data, config.Own, runtime.GOOS+"-"+runtime.GOARCH) {
				data.Close()
			}
		}
	}
	slices.SortFunc(h.programs, func(a, b program) int { return cmp.Compare(place(a.System), place(b.System)) })
	h.vouch = sync.OnceFunc(func() {
		for i := range h.programs {
			if p := &h.programs[i]; config.Vouch != nil {
				if origin, err := config.Vouch(p.file); err == nil {
					p.Origin = origin
				}
			}
		}
	})
	return h, nil
}

// lookThrough takes what lies in the folder, and nothing that a link in it leads to
// elsewhere.
func (h *Handout) lookThrough() error {
	root, err := os.OpenRoot(h.config.Folder)
	if err != nil {
		return fmt.Errorf("cannot give programs from %s: %w", h.config.Folder, err)
	}
	defer root.Close()
	folder, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("cannot give programs from %s: %w", h.config.Folder, err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot give programs from %s: %w", h.config.Folder, err)
	}
	if len(names) > maxFiles {
		return fmt.Errorf("cannot give programs from %s: there are more than %d files in it; give it a folder of its own", h.config.Folder, maxFiles)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := root.Open(name)
		if err != nil {
			h.config.Warn(fmt.Errorf("%s is not given to anybody: it cannot be read, or leads out of %s", name, h.config.Folder))
			continue
		}
		system, err := systemOf(data)
		if err != nil || !h.add(data, filepath.Join(h.config.Folder, name), system) {
			data.Close()
		}
	}
	if len(h.programs) == 0 {
		h.config.Warn(fmt.Errorf("in %s is no build of Muster; it takes programs as the releases have them, unpacked", h.config.Folder))
	}
	return nil
}

// add takes a program, unless there is one for its system, and reports whether it did.
func (h *Handout) add(data *os.File, file, system string) bool {
	i := place(system)
	info, err := data.Stat()
	if i < 0 || err != nil || !info.Mode().IsRegular() || h.program(system) != nil {
		return false
	}
	p := program{System: system, Name: systems[i].name, File: "muster" + systems[i].ending, Size: info.Size(), Origin: Friend, Advice: systems[i].advice, file: file, data: data, changed: info.ModTime()}
	h.programs = append(h.programs, p)
	return true
}

// program is that for a system, or nil.
func (h *Handout) program(system string) *program {
	if i := slices.IndexFunc(h.programs, func(p program) bool { return p.System == system }); i >= 0 {
		return &h.programs[i]
	}
	return nil
}

// Close closes the programs.
func (h *Handout) Close() error {
	var err error
	for _, p := range h.programs {
		err = errors.Join(err, p.data.Close())
	}
	return err
}

func (h *Handout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := strings.TrimPrefix(r.URL.Path, "/get/"); what {
	case "":
		h.page(w, r)
	case "programs.json":
		h.list(w, r)
	default:
		p := h.program(what)
		if p == nil {
			http.Error(w, "there is no program for that system here", http.StatusNotFound)
			return
		}
		h.give(w, r, p)
	}
}

// offer is what there is for a visitor.
type offer struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Release string `json:"release,omitempty"`
	// Yours is the system that the visitor has, as far as its browser says, in words and
	// as the one of Programs; that is empty if there is none. Phone: none plays there.
	Yours    string    `json:"yours"`
	System   string    `json:"system,omitempty"`
	Phone    bool      `json:"phone,omitempty"`
	Programs []program `json:"programs"`
}

func (h *Handout) offer(r *http.Request) offer {
	h.vouch()
	o := offer{Format: "muster.programs/1", Version: h.config.Version, Release: h.config.Release, Programs: h.programs}
	v := visitorOf(r.UserAgent(), r.Header.Get("Sec-CH-UA-Platform"))
	o.Yours, o.Phone = v.name, v.phone
	for _, system := range v.systems {
		if h.program(system) != nil {
			o.System = system
			break
		}
	}
	return o
}

func (h *Handout) list(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(h.offer(r)) // fails only if the client is gone
}

// give gives a program.
func (h *Handout) give(w http.ResponseWriter, r *http.Request, p *program) {
	name := "muster"
	if r.Method == http.MethodPost {
		link, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLink))
		to, wrong := invite.Parse(strings.TrimSpace(string(link)), "")
		if err := errors.Join(err, wrong); err != nil {
			http.Error(w, "that is no link to a room", http.StatusBadRequest)
			return
		}
		name = cmp.Or(to.FileName(), name)
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d programs are being downloaded here: try again in a moment", atOnce), http.StatusServiceUnavailable)
		return
	}
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(giveTime)) // or what the server grants must do
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Cache-Control", "no-store")
	file := name + strings.TrimPrefix(p.File, "muster")
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file}))
	data := io.NewSectionReader(p.data, 0, p.Size)
	switch filepath.Ext(file) {
	case ".zip":
		packZip(w, name, p, data)
	case ".gz":
		packTar(w, name, p, data)
	default:
		http.ServeContent(w, r, "", p.changed, data)
	}
}

// runnable is the mode of a program in an archive.
const runnable = 0o755

// packZip writes an archive for macOS. Whatever fails, the client is gone.
func packZip(w io.Writer, name string, p *program, data io.Reader) {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: p.changed}
	header.SetMode(runnable)
	if entry, err := archive.CreateHeader(header); err == nil {
		if _, err = io.Copy(entry, data); err == nil {
			archive.Close()
		}
	}
}

// packTar writes an archive for Linux. Whatever fails, the client is gone.
func packTar(w io.Writer, name string, p *program, data io.Reader) {
	zipped, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is one
	archive := tar.NewWriter(zipped)
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: runnable, Size: p.Size, ModTime: p.changed})
	if err == nil {
		_, err = io.Copy(archive, data)
	}
	if err == nil && archive.Close() == nil {
		zipped.Close()
	}
}
