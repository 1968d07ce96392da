package cli

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
)

// readReports reads one report a file, in either format.
func readReports(files []string, in io.Reader) ([]report.Report, error) {
	var reports []report.Report
	for _, file := range files {
		one, err := readReport(file, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fileName(file), err)
		}
		twin := slices.IndexFunc(reports, func(r report.Report) bool { return r.Peer == one.Peer })
		switch {
		case one.Peer == "":
			return nil, hinted(fmt.Errorf("%s does not name its player", fileName(file)), whose)
		case twin >= 0:
			return nil, hinted(fmt.Errorf("%s and %s: two reports are by %q", fileName(files[twin]), fileName(file), one.Peer), whose)
		}
		reports = append(reports, one)
	}
	return reports, nil
}

// Hints about reports.
const (
	whose   = "muster discover --name NAME says whose report it is; QStat's are named after their files"
	whereof = "reports come from muster discover --json, or from quakestat -xml -P -R"
)

// clearly drops from an error what the user knows.
func clearly(err error) error {
	var other *report.FormatError
	switch {
	case errors.As(err, &other) && other.Format == "":
		err = errors.New("this JSON is no report: it does not say its format")
	case errors.As(err, &other):
		err = fmt.Errorf("this is a %s, not a %s", discovery.CleanText(other.Format), report.Format)
	default:
		err = errors.New(withoutPackage(reason(err).Error()))
	}
	return hinted(err, whereof)
}

func readReport(file string, in io.Reader) (report.Report, error) {
	f, err := open(file, in)
	if err != nil {
		return report.Report{}, reason(err)
	}
	defer f.Close()
	report, err := parseReport(f, playerOf(file))
	if err != nil {
		err = clearly(err)
	}
	return report, err
}

// playerOf is the player after whom a file is named.
func playerOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(fileName(file)), ".gz")
	return discovery.CleanText(strings.TrimSuffix(name, filepath.Ext(name)))
}

// parseReport tells the formats apart by the first character. QStat does not say
// whose report it is.
func parseReport(from io.Reader, player string) (report.Report, error) {
	text := bufio.NewReader(from)
	first, err := firstLetter(text)
	switch {
	case errors.Is(err, io.EOF):
		return report.Report{}, errors.New("the file is empty")
	case err != nil:
		return report.Report{}, err
	case first == '<':
		report, err := qstat.ReadXML(text)
		report.Peer = player
		return report, err
	case first != '{' && first != '[':
		return report.Report{}, errors.New("this is neither JSON nor XML")
	}
	return report.Read(text)
}

// firstLetter passes over what editors put before a text, and tells what it begins
// with.
func firstLetter(text *bufio.Reader) (first rune, err error) {
	for {
		first, _, err = text.ReadRune()
		if err != nil || !strings.ContainsRune("\ufeff \t\r\n", first) {
			return first, errors.Join(err, text.UnreadRune())
		}
	}
}
