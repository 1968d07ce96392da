package rpc

import (
	"context"
	"errors"
	"strings"

	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/lobby"
	"muster/internal/rpc/jsonrpc"
)

// Codes of errors that are not JSON-RPC's own.
const (
	// Failed says that something did not work, and why.
	Failed = -32001
	// Refused says that the host refuses, with its reason; see PROTOCOL.md.
	Refused = -32002
	// Nothing says that nothing suitable was found.
	Nothing = -32003
	// NotThere says that there is no such room or launch, or not any more.
	NotThere = -32004
	// TooMany says that so much of it is under way that no more begins.
	TooMany = -32005
)

// Trouble is the data of an error.
type Trouble struct {
	Field  string `json:"field,omitempty" doc:"the parameter that is wrong"`
	Reason string `json:"reason,omitempty" doc:"the host's reason, as in PROTOCOL.md"`
	Hint   string `json:"hint,omitempty" doc:"what people can do about it"`
}

// errorOf returns an error of a command or a host as a launcher gets it. args are the command's.
func errorOf(l *catalogue.Language, err error, args []argument) *jsonrpc.Error {
	if own := new(jsonrpc.Error); errors.As(err, &own) {
		return own
	}
	texts := l.SayAll(hint.Sentences(err))
	why, data := jsonrpc.Errorf(Failed, "%s", hint.Text(l, err)), Trouble{}
	data.Hint = strings.Join(texts[1:], "\n")
	var refusal wire.Refusal
	if r := new(wire.Refusal); errors.As(err, &r) {
		refusal = *r
	}
	switch {
	case errors.Is(err, context.Canceled):
		return jsonrpc.Errorf(jsonrpc.Cancelled, "cancelled")
	case hint.IsUsage(err):
		why.Code, data.Field = jsonrpc.InvalidParams, fieldIn(err.Error(), args)
	case errors.Is(err, lobby.ErrNothing):
		why.Code = Nothing
	case refusal.Reason != "", errors.As(err, &refusal):
		why.Code, data.Reason = Refused, refusal.Reason
	}
	if data != (Trouble{}) {
		why.Data = data
	}
	return why
}

func noRoom(number int) *jsonrpc.Error {
	why := jsonrpc.Errorf(NotThere, "there is no room %d here, or not any more", number)
	why.Data = Trouble{Field: "room"}
	return why
}
