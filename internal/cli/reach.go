package cli

import (
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"muster/internal/handout"
	"muster/internal/ingress"
	"muster/internal/invite"
	"muster/internal/option"
	"muster/internal/release"
)

// bindIngress adds the flags for how people reach a host.
func bindIngress(flags *pflag.FlagSet, in *ingress.Ingress) {
	flags.Var(option.New("URL", "", func(text string) (err error) {
		in.Public, err = invite.ParseBase(text)
		return err
	}), "public-url", "by what people reach this host through a proxy or tunnel, such as https://night.example: `URL` for links")
	flags.StringArrayVar(&in.MoreNames, "host-name", nil, "a `NAME` of yours that leads to this host, which browsers may ask "+
		"for (repeatable; addresses and this machine's own names need none)")
	flags.Var(option.Networks(&in.Proxies), "trusted-proxy", "believe X-Forwarded-For, -Host and -Proto of the reverse "+
		"proxy at `ADDRESS` or in a network (repeatable)")
	flags.Var(option.Networks(&in.MetricsFrom), "metrics-from", "let programs at `ADDRESS` or in a network have /metrics, too (repeatable)")
}

// bindDownloads adds the flags for where a host gets the programs that it hands out.
func bindDownloads(flags *pflag.FlagSet, d *handout.Options) {
	d.Cache = filepath.Join(xdg.CacheHome, "muster", "releases")
	flags.StringVar(&d.Folder, "downloads", "", "have the page give the builds of Muster in `FOLDER` to friends with other systems, too")
	flags.StringVar(&d.Releases, "releases", release.Page(), "what is not there the page gets from the project's releases "+
		"at `URL`, once somebody asks for it, if the project's signature holds (\"\" gets nothing)")
}
