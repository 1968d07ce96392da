package ranges

import (
	"bufio"
	"compress/gzip"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
)

// EncodeNames writes the names of ASes. The file is one gzip member with the header of
// a table. Each line has a number, a tab and a name.
func EncodeNames(w io.Writer, h Header, names map[uint32]string) error {
	var text strings.Builder
	for _, asn := range slices.Sorted(maps.Keys(names)) {
		text.WriteString(strconv.FormatUint(uint64(asn), 10) + "\t" + names[asn] + "\n")
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	z.Name, z.Comment, z.ModTime = h.Name, h.Source, h.Built
	if _, err := io.WriteString(z, text.String()); err != nil {
		return err
	}
	return z.Close()
}

// DecodeNames reads what EncodeNames writes. Its errors wrap [discovery.ErrMalformed].
func DecodeNames(r io.Reader) (map[uint32]string, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, malformed("header: %v", err)
	}
	rest := &io.LimitedReader{R: z, N: maxBody + 1}
	names := make(map[uint32]string)
	lines := bufio.NewScanner(rest)
	for lines.Scan() {
		number, name, ok := strings.Cut(lines.Text(), "\t")
		asn, err := strconv.ParseUint(number, 10, 32)
		if err != nil || !ok {
			return nil, malformed("%.40q is no AS and its name", lines.Text())
		}
		names[uint32(asn)] = discovery.CleanText(name)
	}
	switch {
	case rest.N <= 0:
		return nil, malformed("names of more than %d bytes", maxBody)
	case lines.Err() != nil:
		return nil, malformed("names: %v", lines.Err())
	}
	return names, nil
}
