package host

import (
	"cmp"
	"math"
	"net/http"

	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/catalogue/languages"
)

// languageHeader says in which language the texts of an answer are.
const languageHeader = "Content-Language"

// inLanguage has an answer's texts in the language that its caller asks for by Accept-Language, or else
// in English.
func inLanguage(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if asked := r.Header.Get("Accept-Language"); asked != "" {
			w.Header().Set(languageHeader, languages.Find(languages.Asked(asked)...))
		}
		next(w, r)
	}
}

func languageOf(w http.ResponseWriter) *catalogue.Language {
	return languages.In(cmp.Or(w.Header().Get(languageHeader), catalogue.English))
}

// headline says where a room stands.
func headline(r wire.Document) sentence.Sentence {
	switch r.Phase.Name {
	case wire.PhaseGathering:
		here := 0
		for _, m := range r.Members {
			if m.Connected {
				here++
			}
		}
		if r.Seats > here {
			return sentence.Of("stage.awaited", "n", r.Seats-here)
		}
		return sentence.Of("stage.here", "n", here)
	case wire.PhaseVoting:
		if r.Places != nil {
			return sentence.Of("front.where-title")
		}
		return sentence.Of("vote.where")
	case wire.PhaseBanning:
		return sentence.Of("match.stage-none")
	case wire.PhaseReveal, wire.PhaseCountdown:
		return sentence.Of("stage.countdown")
	case wire.PhaseLaunching:
		if r.Place != nil {
			return placed(r)
		}
		return destination(r)
	case wire.PhaseCoordinating:
		if r.Places != nil {
			return sentence.Of("stage.placing")
		}
		return sentence.Of("stage.refining")
	case wire.PhaseFailed:
		return sentence.Of("stage.no-server")
	}
	return sentence.Of("stage." + string(r.Phase.Name))
}

// placed says where a server should be, with the group's pings.
func placed(r wire.Document) sentence.Sentence {
	said := wire.AnnouncedServer{Name: r.Place.Name, IsPlace: true}
	if r.Selection != nil {
		for _, ranked := range r.Selection.Ranking {
			if ranked.Addr.String() == r.Place.At {
				said.MeanMS, said.MaxMS = ranked.MeanMS, ranked.MaxMS
			}
		}
	}
	return said.Placed()
}

// destination says where a room has gone, with its pings if everybody may see them. The server is not
// always the first of the ranking: people vote.
func destination(r wire.Document) sentence.Sentence {
	pairs := []any{"game", cmp.Or(r.GameName, r.Game), "place", "server", "server", cmp.Or(r.Server, r.Connect), "map", ""}
	at, err := hostport.Parse(r.Connect)
	if r.Selection == nil || err != nil {
		return sentence.Of("post.choice", pairs...)
	}
	for _, ranked := range r.Selection.Ranking {
		is := ranked.Addr.Addr() == at.Addr() && (ranked.Addr.Port() == at.Port() || ranked.Addr.Port() == r.QueryPort)
		if is && ranked.MeanMS > 0 && len(ranked.RTT) > 0 {
			pairs = append(pairs, "pings", "known", "ms", math.RoundToEven(ranked.MeanMS), "worst", math.RoundToEven(ranked.MaxMS))
			break
		}
	}
	return sentence.Of("post.choice", pairs...)
}
