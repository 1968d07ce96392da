package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// newDoctor is the command that tells what this machine can do.
func newDoctor(p *program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "What this machine and network can do",
		Long: `Doctor looks at what measuring and hosting need: sockets, network cards, the
system's limits, the tables of countries, the games. It sends nothing off this
machine. What it warns of works less well; nothing of it is an error.`,
		RunE: func(*cobra.Command, []string) error {
			checks := diagnose(p.examine())
			if asJSON {
				return json.NewEncoder(p.streams.Out).Encode(doctorDocument(checks))
			}
			printChecks(p.streams.Out, checks, p.style(p.streams.Out), width(p.streams.Out))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	return cmd
}

func doctorDocument(checks []check) any {
	return struct {
		Format  string  `json:"format"`
		Version string  `json:"version"`
		Checks  []check `json:"checks"`
	}{"muster.doctor/1", version(), checks}
}

// printChecks writes a line a check, and below it what to do, if anything.
func printChecks(w io.Writer, checks []check, s style, width int) {
	const indent = 5 // under the name
	for _, c := range checks {
		state := "ok  "
		if c.State == stateWarn {
			state = s.bold("warn")
		}
		fmt.Fprintf(w, "%s %-10s %s\n", state, c.Name, hanging(c.Detail, width, indent+11))
		if c.Hint != "" {
			fmt.Fprintf(w, "%*s%s\n", indent, "", s.faint(hanging("hint: "+c.Hint, width, indent)))
		}
	}
}

// hanging breaks a text that begins in column indent at most, so that its lines
// stand below each other.
func hanging(text string, width, indent int) string {
	room := max(width-indent, 20)
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > room {
			lines, line = append(lines, line), word
			continue
		}
		if len(lines)+len(line) > 0 {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n"+strings.Repeat(" ", indent))
}
