package handout

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"

	"muster/internal/release"
)

// runnable is the mode of a program in an archive. readable is the mode of a signature.
const runnable, readable = 0o755, 0o644

// entry is a file of an archive.
type entry struct {
	name string
	mode os.FileMode
	size int64
	data io.Reader
}

// executable returns the file ending of the program itself.
func executable(file string) string {
	if packed(file) {
		return ""
	}
	return filepath.Ext(file)
}

// packed reports whether a program comes in an archive, together with its signature.
func packed(file string) bool { return filepath.Ext(file) != ".exe" }

// packZip writes an archive for macOS. It fails only if the client has gone.
func packZip(w io.Writer, name string, p *program, data io.Reader) {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for _, e := range p.entries(name, data) {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: p.changed}
		header.SetMode(e.mode)
		entry, err := archive.CreateHeader(header)
		if err == nil {
			_, err = io.Copy(entry, e.data)
		}
		if err != nil {
			return
		}
	}
	archive.Close()
}

// packTar writes an archive for Linux. It fails only if the client has gone.
func packTar(w io.Writer, name string, p *program, data io.Reader) {
	zipped, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // cannot fail: the level is valid
	archive := tar.NewWriter(zipped)
	for _, e := range p.entries(name, data) {
		err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: e.size, ModTime: p.changed})
		if err == nil {
			_, err = io.Copy(archive, e.data)
		}
		if err != nil {
			return
		}
	}
	if archive.Close() == nil {
		zipped.Close()
	}
}

// entries returns the program and its signature, if there is one, so that people can verify it and pass it on as the
// project's.
func (p *program) entries(name string, data io.Reader) []entry {
	all := []entry{{name, runnable, p.Size, data}}
	if p.signature != nil {
		all = append(all, entry{name + release.SignatureEnding, readable, int64(len(p.signature)), bytes.NewReader(p.signature)})
	}
	return all
}
