// Package qstat reads and writes the XML of QStat. Other tools build on this server
// query program, and players in the MUSST experiments measured their servers with it:
//
//	<?xml version="1.0" encoding="UTF-8"?>
//	<qstat>
//		<server type="Q3S" address="192.0.2.1:27960" status="UP">
//			<hostname>192.0.2.1:27960</hostname>
//			<name>…</name> <gametype>…</gametype> <map>…</map>
//			<numplayers>3</numplayers> <maxplayers>8</maxplayers>
//			<numspectators>0</numspectators> <maxspectators>0</maxspectators>
//			<ping>30</ping> <retries>0</retries>
//			<rules> <rule name="…">…</rule> … </rules>
//			<players> … </players>
//		</server>
//		<server type="Q3S" address="192.0.2.2:27960" status="DOWN">
//			<hostname>192.0.2.2:27960</hostname>
//		</server>
//	</qstat>
//
// DOWN is a server on a machine that refuses, TIMEOUT a silent one.
package qstat

import (
	"bufio"
	"encoding/xml"
	"io"
	"strconv"
	"time"

	"muster/discovery"
	"muster/discovery/report"
)

// The rules for facts about a server without an element in QStat. The first two are
// QStat's own for A2S servers.
const (
	rulePassword = "password"
	ruleBots     = "bots"
	ruleRTT      = "rtt_ms"
	ruleCountry  = "country"
	ruleASN      = "asn"
	// QStat has these rules, too, for games that tell them.
	ruleVersion  = "version"
	ruleProtocol = "protocol"
	ruleOldest   = "protocol_min"
	ruleMod      = "gamedir"
	ruleTags     = "keywords"
	// Servers with ioquake3's engine tell how many seats are for those who know a password.
	rulePrivate = "sv_privateClients"
)

// WriteXML writes a report as quakestat -xml -utf8 -R -P does, with the same elements
// in the same order. kind is QStat's type of the servers, such as Q3S. Facts without an
// element are in rules: the RTT to the microsecond, country, origin AS, bots, password,
// version, protocol, mod and tags.
func WriteXML(w io.Writer, kind string, r report.Report) error {
	b := bufio.NewWriter(w) // keeps the first error
	// A stranger's text is written without the characters that XML does not allow.
	// Special characters are escaped.
	enclosed := func(before, text, after string) {
		b.WriteString(before)
		_ = xml.EscapeText(b, []byte(discovery.CleanText(text)))
		b.WriteString(after)
	}
	element := func(name, value string) { enclosed("\t\t<"+name+">", value, "</"+name+">\n") }
	rule := func(name, value string) { enclosed("\t\t\t<rule name=\""+name+"\">", value, "</rule>\n") }

	b.WriteString(xml.Header + "<qstat>\n")
	for _, m := range r.Servers {
		status := "TIMEOUT" // QStat has no word for servers that nobody asked
		switch m.State {
		case discovery.Answered:
			status = "UP"
		case discovery.Refused:
			status = "DOWN"
		}
		enclosed("\t<server type=\"", kind, `" address="`+m.Addr.String()+`" status="`+status+"\">\n")
		element("hostname", m.Addr.String())
		if m.State == discovery.Answered {
			element("name", m.Name)
			element("gametype", m.Mode)
			element("map", m.Map)
			element("numplayers", strconv.Itoa(m.Players))
			element("maxplayers", strconv.Itoa(m.MaxPlayers))
			element("numspectators", "0")
			element("maxspectators", "0")
			element("ping", strconv.FormatInt(time.Duration(m.RTT).Round(time.Millisecond).Milliseconds(), 10))
			element("retries", "0")
			b.WriteString("\t\t<rules>\n")
			password := "0"
			if m.Password {
				password = "1"
			}
			rule(rulePassword, password)
			rule(ruleBots, strconv.Itoa(m.Bots))
			rule(ruleRTT, m.RTT.String())
			if m.Country != "" {
				rule(ruleCountry, m.Country)
			}
			if m.ASN != 0 {
				rule(ruleASN, strconv.FormatUint(uint64(m.ASN), 10))
			}
			for _, more := range [][2]string{{ruleVersion, m.Version}, {ruleProtocol, number(m.Protocol)},
				{ruleOldest, number(m.OldestProtocol)}, {ruleMod, m.Mod}, {ruleTags, string(m.Tags)}} {
				if more[1] != "" {
					rule(more[0], more[1])
				}
			}
			b.WriteString("\t\t</rules>\n\t\t<players>\n\t\t</players>\n")
		}
		b.WriteString("\t</server>\n")
	}
	b.WriteString("</qstat>\n")
	return b.Flush()
}

// number returns a known number as text, or nothing.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
