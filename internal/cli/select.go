package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/discovery/qstat"
	"muster/selection"
)

// choice is the command that chooses from saved reports.
type choice struct {
	*program
	by      string
	weights map[string]string
	wish    selection.Wish
	json    bool
}

func newSelect(p *program) *cobra.Command {
	c := &choice{program: p}
	cmd := &cobra.Command{
		Use:   "select REPORT…",
		Short: "Choose from saved reports, one file a player",
		Long: `Select chooses a server for the players whose reports it is given: Muster's own
(muster discover --json) or QStat's (quakestat -xml -P -R), which are named after
their file.`,
		Example: `  muster select ann.json bob.json --by threshold --max-rtt 100ms,150ms
  quakestat -xml -P -R -default q3s -f servers.txt >carla.xml && muster select ann.json carla.xml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.by, "by", string(selection.Mean), "rule: "+words(selection.Rules()))
	flags.DurationSliceVar(&c.wish.Limits, "max-rtt", nil, "nobody may be over this RTT; several are tried from the strictest")
	flags.IntVar(&c.wish.Seats, "players", 0, "free seats the group needs (default: one for each report)")
	flags.StringVar(&c.wish.Map, "map", "", "only servers on this `MAP`")
	flags.StringVar(&c.wish.Mode, "mode", "", "only servers of this game `MODE`")
	flags.BoolVar(&c.wish.NoPassword, "no-password", false, "only servers without a password")
	flags.StringToStringVar(&c.weights, "weights", nil, "players who count more or less, `NAME=2,…`")
	flags.IntVar(&c.wish.Top, "top", 10, "servers in the ranking; 0 is all")
	flags.BoolVar(&c.json, "json", false, "print the choice as JSON")
	completeWords(cmd, "by", selection.Rules())
	return cmd
}

func (c *choice) run(files []string) error {
	reports, err := readReports(files)
	if err != nil {
		return err
	}
	servers, table, err := selection.Merge(reports)
	if err != nil {
		return err
	}
	if err := c.check(table.Players()); err != nil {
		return usageError(err)
	}
	chosen := selection.Select(servers, table, c.wish)
	if c.json {
		err = json.NewEncoder(c.streams.Out).Encode(chosen)
	} else {
		c.show(chosen)
	}
	if err == nil && chosen.Chosen == nil {
		err = errNothing
	}
	return err
}

// check completes the wish by what the flags say.
func (c *choice) check(players []string) error {
	c.wish.By = selection.Rule(c.by)
	if c.wish.Seats == 0 {
		c.wish.Seats = len(players)
	}
	c.wish.Weights = map[string]float64{}
	for name, text := range c.weights {
		weight, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("weight %q of %q is no number", text, name)
		}
		c.wish.Weights[name] = weight
	}
	return c.wish.Check(players)
}

// readReports reads one report a file, in either format.
func readReports(files []string) ([]discovery.Report, error) {
	var reports []discovery.Report
	for _, file := range files {
		report, err := readReport(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func readReport(file string) (discovery.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return discovery.Report{}, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if !isXML(r) {
		return discovery.ReadReport(r)
	}
	report, err := qstat.ReadXML(r)
	report.Peer = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	return report, err
}

func isXML(r *bufio.Reader) bool {
	const enough = 64
	head, _ := r.Peek(enough) // a shorter file is no XML document, or an error that reading meets again
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("<"))
}

// show prints the choice for people: the reasons, then the ranking.
func (c *choice) show(s selection.Selection) {
	for _, sentence := range s.Explain() {
		fmt.Fprintln(c.streams.Out, sentence)
	}
	if len(s.Ranking) == 0 {
		return
	}
	fmt.Fprintln(c.streams.Out)
	rankingTable(s).write(c.streams.Out, width(c.streams.Out))
}

func rankingTable(s selection.Selection) *table {
	t := &table{columns: []column{{"", right}, {"SERVER", left}, {"MEAN", right}, {"WORST", right}, {"STDEV", right}}}
	for _, name := range s.Players {
		t.columns = append(t.columns, column{name, right})
	}
	for i, r := range s.Ranking {
		row := []string{strconv.Itoa(i + 1), r.Addr.String(), millis(r.MeanMS), millis(r.MaxMS), millis(r.StdevMS)}
		for _, name := range s.Players {
			row = append(row, millis(r.RTT[name]))
		}
		t.add(row...)
	}
	return t
}

func millis(ms float64) string { return strconv.FormatFloat(ms, 'f', 1, 64) }
