// Package reports reads players' saved measurements, one file a player, in Muster's and QStat's formats, and shows the
// choice from them.
package reports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
	"muster/internal/hint"
	"muster/internal/input"
)

// These hints are about reports.
const (
	whose   = "muster discover --name NAME says whose report it is; QStat's are named after their files"
	whereof = "reports come from muster discover --json, or from quakestat -xml -P -R"
)

// Read reads one report a file, in either format.
func Read(files []string, in io.Reader) ([]report.Report, error) {
	var reports []report.Report
	for _, file := range files {
		name := input.Name(file)
		f, err := input.Open(file, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		player := strings.TrimSuffix(filepath.Base(name), ".gz")
		one, err := parse(f, discovery.CleanText(strings.TrimSuffix(player, filepath.Ext(player))))
		f.Close()
		var other *report.FormatError
		switch {
		case errors.As(err, &other) && other.Format == "":
			err = errors.New("this JSON is no report: it does not say its format")
		case errors.As(err, &other):
			err = fmt.Errorf("this is a %s, not a %s", discovery.CleanText(other.Format), report.Format)
		case err != nil:
			err = errors.New(hint.Plain(hint.Reason(err)))
		}
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", name, err), whereof)
		}
		twin := slices.IndexFunc(reports, func(r report.Report) bool { return r.Peer == one.Peer })
		switch {
		case one.Peer == "":
			return nil, hint.With(fmt.Errorf("%s does not name its player", name), whose)
		case twin >= 0:
			return nil, hint.With(fmt.Errorf("%s and %s: two reports are by %q", input.Name(files[twin]), name, one.Peer), whose)
		}
		reports = append(reports, one)
	}
	return reports, nil
}

// parse detects the format by the first character after anything that editors put before a text. QStat does not name
// the report's player.
func parse(from io.Reader, player string) (report.Report, error) {
	text := bufio.NewReader(from)
	for {
		first, _, err := text.ReadRune()
		switch {
		case errors.Is(err, io.EOF):
			return report.Report{}, errors.New("the file is empty")
		case err != nil:
			return report.Report{}, err
		case strings.ContainsRune("\ufeff \t\r\n", first):
			continue
		}
		text.UnreadRune()
		switch first {
		case '<':
			report, err := qstat.ReadXML(text)
			report.Peer = player
			return report, err
		case '{', '[':
			return report.Read(text)
		}
		return report.Report{}, errors.New("this is neither JSON nor XML")
	}
}
