package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"muster/host/access"
)

// doors are how players get at a host: in the open or by TLS, straight or
// through a proxy or a router.
type doors struct {
	tls       bool
	cert, key string
	proxies   []netip.Prefix
	portMap   bool
	public    *url.URL // nil without one

	pair *tls.Certificate // nil without TLS
}

func (d *doors) bind(flags *pflag.FlagSet) {
	flags.BoolVar(&d.tls, "tls", false, "encrypt, with the host's own certificate: the link carries its fingerprint")
	flags.StringVar(&d.cert, "tls-cert", "", "encrypt with the certificate in `FILE.pem`")
	flags.StringVar(&d.key, "tls-key", "", "the certificate's key, `FILE.pem`")
	flags.Var(prefixes{&d.proxies}, "trusted-proxy", "believe X-Forwarded-For and -Proto of the reverse proxy at `ADDRESS` or in a network (repeatable)")
	flags.Var(publicURL{&d.public}, "public-url", "what friends reach this host by through a proxy or tunnel, such as https://night.example: `URL` for links")
	flags.BoolVar(&d.portMap, "port-map", false, "ask the router to let friends in from the internet")
}

// check gets the certificate.
func (d *doors) check() error {
	switch {
	case (d.cert == "") != (d.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case d.tls && d.public != nil && d.public.Scheme != "https":
		return hinted(usagef("--tls encrypts, but --public-url %v does not", d.public), "say https://, or leave out --tls where a proxy encrypts")
	case d.cert != "":
		pair, err := tls.LoadX509KeyPair(d.cert, d.key)
		var unread *fs.PathError
		switch {
		case errors.As(err, &unread):
			return fmt.Errorf("cannot read %s: %w", unread.Path, unread.Err)
		case err != nil:
			return fmt.Errorf("no certificate in %s with its key in %s: %s", d.cert, d.key, strings.TrimPrefix(err.Error(), "tls: "))
		}
		d.pair = &pair
	case d.tls:
		file, err := stateFile("certificate.pem")
		if err != nil {
			return fmt.Errorf("no folder for the certificate: %w", err)
		}
		pair, err := access.OwnCertificate(file, time.Now())
		if err != nil {
			return hinted(err, fmt.Sprintf("if %s is damaged, delete it: a new one is made, and links with the old fingerprint hold no more", file))
		}
		d.pair = &pair
	}
	return nil
}

// secure has a listener speak TLS, if that is wanted.
func (d *doors) secure(l net.Listener) net.Listener {
	if d.pair == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*d.pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
}

// fingerprint is that of the host's own certificate, or empty: those of others
// are for the system to judge.
func (d *doors) fingerprint() string {
	if d.pair == nil || d.cert != "" {
		return ""
	}
	return access.Fingerprint(d.pair.Leaf.Raw)
}

// outside is an invitation for friends, wherever they are.
func (d *doors) outside(i invitation) invitation {
	i = d.direct(i)
	if d.public != nil {
		i.host, i.tls = d.public.Host, d.public.Scheme == "https"
	}
	return i
}

// direct is an invitation for friends who need no proxy or tunnel. A certificate
// by file holds for a name, so that the name stands in the link.
func (d *doors) direct(i invitation) invitation {
	i.tls, i.pin = d.pair != nil, d.fingerprint()
	if name := d.name(); name != "" {
		_, port, _ := net.SplitHostPort(i.host) // our listener's has one
		i.host = net.JoinHostPort(name, port)
	}
	return i
}

// name is the first host name of a certificate by file.
func (d *doors) name() string {
	if d.cert == "" {
		return ""
	}
	for _, name := range d.pair.Leaf.DNSNames {
		if !strings.HasPrefix(name, "*.") {
			return name
		}
	}
	return ""
}

// inside is an invitation for this machine, by whose addresses no certificate
// holds.
func (d *doors) inside(i invitation) invitation {
	if d.pair != nil {
		i.tls, i.pin = true, access.Fingerprint(d.pair.Leaf.Raw)
	}
	return i
}

// publicURL is a flag of a URL that links begin with.
type publicURL struct{ value **url.URL }

func (f publicURL) String() string {
	if f.value == nil || *f.value == nil {
		return ""
	}
	return (*f.value).String()
}

func (f publicURL) Set(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || withPort(u.Host, defaultPort) == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q is no URL such as https://night.example", text)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("%q says more than where: give scheme and host, such as %s://%s; the page needs a host of its own", text, u.Scheme, u.Host)
	}
	*f.value = &url.URL{Scheme: u.Scheme, Host: u.Host}
	return nil
}

func (f publicURL) Type() string { return "URL" }

// prefixes is a flag of networks; an address is a network of one.
type prefixes struct{ value *[]netip.Prefix }

func (f prefixes) String() string {
	if f.value == nil || len(*f.value) == 0 {
		return ""
	}
	return fmt.Sprint(*f.value)
}

func (f prefixes) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		p, err := prefixOf(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		*f.value = append(*f.value, p)
	}
	return nil
}

func (f prefixes) Type() string { return "ADDRESS,…" }

func prefixOf(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a network such as 192.0.2.0/24", text)
	}
	return p, nil
}
