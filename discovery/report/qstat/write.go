// Package qstat reads and writes the XML of QStat, the server query program
// whose output other tools build on, and with which players in the MUSST
// experiments measured their servers:
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
// DOWN is a server whose machine refuses, TIMEOUT a silent one.
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

// The rules by which Muster tells more of a server than QStat has elements for.
// The first two are QStat's own for A2S servers.
const (
	rulePassword = "password"
	ruleBots     = "bots"
	ruleRTT      = "rtt_ms"
	ruleCountry  = "country"
	ruleASN      = "asn"
)

// WriteXML writes a report as quakestat -xml -utf8 -R -P does, with the same
// elements in the same order. kind is QStat's type of the servers, such as Q3S.
// What QStat has no element for stands in rules: the RTT to the microsecond,
// country, origin AS, bots, password.
func WriteXML(w io.Writer, kind string, r report.Report) error {
	b := bufio.NewWriter(w)
	b.WriteString(xml.Header + "<qstat>\n")
	for _, m := range r.Servers {
		writeServer(b, kind, m)
	}
	b.WriteString("</qstat>\n")
	return b.Flush() // keeps the first error
}

func writeServer(b *bufio.Writer, kind string, m report.Measurement) {
	b.WriteString("\t<server type=\"")
	escape(b, kind)
	b.WriteString(`" address="` + m.Addr.String() + `" status="` + statusOf(m.State) + "\">\n")
	element(b, "hostname", m.Addr.String())
	if m.State == discovery.Answered {
		writeAnswer(b, m)
	}
	b.WriteString("\t</server>\n")
}

// statusOf is QStat's word for a state; it knows none for servers that nobody
// has asked.
func statusOf(s discovery.State) string {
	switch s {
	case discovery.Answered:
		return "UP"
	case discovery.Refused:
		return "DOWN"
	}
	return "TIMEOUT"
}

func writeAnswer(b *bufio.Writer, m report.Measurement) {
	element(b, "name", m.Name)
	element(b, "gametype", m.Mode)
	element(b, "map", m.Map)
	element(b, "numplayers", strconv.Itoa(m.Players))
	element(b, "maxplayers", strconv.Itoa(m.MaxPlayers))
	element(b, "numspectators", "0")
	element(b, "maxspectators", "0")
	element(b, "ping", strconv.FormatInt(time.Duration(m.RTT).Round(time.Millisecond).Milliseconds(), 10))
	element(b, "retries", "0")
	b.WriteString("\t\t<rules>\n")
	rule(b, rulePassword, strconv.Itoa(btoi(m.Password)))
	rule(b, ruleBots, strconv.Itoa(m.Bots))
	rule(b, ruleRTT, m.RTT.String())
	if m.Country != "" {
		rule(b, ruleCountry, m.Country)
	}
	if m.ASN != 0 {
		rule(b, ruleASN, strconv.FormatUint(uint64(m.ASN), 10))
	}
	b.WriteString("\t\t</rules>\n\t\t<players>\n\t\t</players>\n")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func element(b *bufio.Writer, name, value string) {
	b.WriteString("\t\t<" + name + ">")
	escape(b, value)
	b.WriteString("</" + name + ">\n")
}

func rule(b *bufio.Writer, name, value string) {
	b.WriteString("\t\t\t<rule name=\"" + name + "\">")
	escape(b, value)
	b.WriteString("</rule>\n")
}

// escape writes a stranger's text: without the characters that XML does not
// allow, and with those escaped that it gives a meaning.
func escape(b *bufio.Writer, s string) {
	_ = xml.EscapeText(b, []byte(discovery.CleanText(s))) // b keeps the error
}
