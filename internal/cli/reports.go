package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"muster/discovery"
	"muster/discovery/qstat"
)

// readReports reads one report a file, in either format.
func readReports(files []string) ([]discovery.Report, error) {
	var reports []discovery.Report
	for _, file := range files {
		report, err := readReport(file)
		if err != nil {
			return nil, hinted(fmt.Errorf("%s: %w", file, clearly(err)), "reports come from muster discover --json, or from quakestat -xml -P -R")
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// clearly drops from an error what the user knows.
func clearly(err error) error {
	var other *discovery.FormatError
	switch {
	case errors.As(err, &other) && other.Format == "":
		return errors.New("this JSON is no report: it does not say its format")
	case errors.As(err, &other):
		return fmt.Errorf("this is a %s, not a %s", discovery.CleanText(other.Format), discovery.ReportFormat)
	}
	return errors.New(withoutPackage(reason(err).Error()))
}

func readReport(file string) (discovery.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return discovery.Report{}, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	switch _, err := r.Peek(1); {
	case errors.Is(err, io.EOF):
		return discovery.Report{}, errors.New("the file is empty")
	case err != nil:
		return discovery.Report{}, err
	}
	if !isXML(r) {
		return discovery.ReadReport(r)
	}
	report, err := qstat.ReadXML(r)
	report.Peer = discovery.CleanText(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	return report, err
}

// isXML looks at the first character.
func isXML(r *bufio.Reader) bool {
	const enough = 64
	head, _ := r.Peek(enough) // what there is of a shorter file
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("<"))
}
