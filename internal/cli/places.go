package cli

import (
	"github.com/spf13/cobra"

	"muster/host/wire"
	"muster/internal/option"
	"muster/internal/venue"
)

// placesFlag is the flag of candidate places, and their key in the table of settings.
const placesFlag = "places"

// bindVenues adds the flag that reads candidate places from a file.
func (p *program) bindVenues(cmd *cobra.Command, to *wire.Venues) {
	cmd.Flags().Var(option.New("FILE", "", func(file string) (err error) {
		*to, err = venue.Read(cmd.Context(), file, p.in)
		return err
	}), placesFlag, "places where you could have a server, one a line of `FILE`: NAME, ADDRESS[, PROTOCOL]")
}
