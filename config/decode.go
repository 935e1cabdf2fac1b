package config

import (
	"encoding"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"

	"spicepacer/session/authz"
)

// decode merges the layers over the defaults.
func (ls layers) decode() (Config, error) {
	merged := koanf.New(keyDelimiter)
	for _, l := range ls {
		if err := merged.Merge(l.values); err != nil {
			return Config{}, &Error{Err: err}
		}
	}
	cfg := Default()
	var found mapstructure.Metadata
	err := merged.UnmarshalWithConf("", &cfg, koanf.UnmarshalConf{
		DecoderConfig: &mapstructure.DecoderConfig{
			TagName:    "koanf",
			DecodeHook: mapstructure.DecodeHookFuncType(convert),
			Metadata:   &found,
			MatchName:  func(key, field string) bool { return key == field },
			Result:     &cfg,
		},
	})
	if len(found.Unused) > 0 {
		key := slices.Min(found.Unused)
		return Config{}, bad(key, "unknown key; the closest known one is %s", closest(key, knownKeys()))
	}
	if err != nil {
		return Config{}, typeError(err)
	}
	return cfg, nil
}

// typeError finds the key of a value that does not fit.
func typeError(err error) error {
	key := ""
	for {
		e, ok := errors.AsType[*mapstructure.DecodeError](err)
		if !ok {
			return &Error{Key: key, Err: err}
		}
		key, err = e.Name(), e.Unwrap()
	}
}

var (
	secretType   = reflect.TypeFor[authz.Secret]()
	durationType = reflect.TypeFor[time.Duration]()
	prefixType   = reflect.TypeFor[netip.Prefix]()
	prefixesType = reflect.TypeFor[[]netip.Prefix]()
	addressType  = reflect.TypeFor[netip.Addr]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// convert turns what YAML and the environment give into the types of Config.
// It is stricter than mapstructure: no fraction becomes an integer, no number a
// duration, and no secret appears in an error.
func convert(from, to reflect.Type, data any) (any, error) {
	text, isText := data.(string)
	switch {
	case from == to:
		return data, nil
	case to == secretType && !isText:
		return nil, errors.New("must be a string; put it in quotes")
	case to == durationType:
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a duration such as 250ms or 10s", fmt.Sprint(data))
		}
		return d, nil
	case to == addressType:
		a, err := netip.ParseAddr(fmt.Sprint(data))
		if err != nil {
			return nil, fmt.Errorf("%q is not an IP address", fmt.Sprint(data))
		}
		return a, nil
	case to == prefixType:
		p, err := parsePrefix(fmt.Sprint(data))
		if err != nil {
			return nil, fmt.Errorf("%q is neither an IP address nor a prefix such as 10.0.0.0/8", fmt.Sprint(data))
		}
		return p, nil
	case to == prefixesType && isText:
		return prefixList(text)
	case reflect.PointerTo(to).Implements(textType):
		v := reflect.New(to)
		err := v.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(fmt.Sprint(data)))
		return v.Elem().Interface(), err
	case to.Kind() == reflect.Int && from.Kind() != reflect.Int:
		n, err := strconv.Atoi(fmt.Sprint(data))
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", fmt.Sprint(data))
		}
		return n, nil
	case to.Kind() == reflect.Bool && isText:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return b, nil
	}
	return data, nil
}

// parsePrefix reads a prefix, or an address as a prefix of its own.
func parsePrefix(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	return p.Masked(), err
}

// prefixList reads what the environment gives for a list: separated by commas.
func prefixList(s string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		p, err := parsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an IP address nor a prefix such as 10.0.0.0/8", part)
		}
		list = append(list, p)
	}
	return list, nil
}

// knownKeys lists the paths of all sections and keys; those inside a list have
// [] after the list's name.
func knownKeys() []string { return keysOf(reflect.TypeFor[Config](), "") }

func keysOf(t reflect.Type, prefix string) []string {
	var keys []string
	for f := range t.Fields() {
		name, ok := f.Tag.Lookup("koanf")
		if !ok {
			return nil // a value of several fields, such as netip.Addr
		}
		key := prefix + name
		keys = append(keys, key)
		switch {
		case f.Type.Kind() == reflect.Struct:
			keys = append(keys, keysOf(f.Type, key+keyDelimiter)...)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			keys = append(keys, keysOf(f.Type.Elem(), key+"[]"+keyDelimiter)...)
		}
	}
	return keys
}

// closest returns the known key with the fewest edits from key. A key that is
// right but for its section counts as one edit away.
func closest(key string, known []string) string {
	key = listIndex(key)
	return slices.MinFunc(known, func(a, b string) int {
		fullA, fullB := edits(key, a), edits(key, b)
		nearA := min(fullA, 1+edits(lastPart(key), lastPart(a)))
		nearB := min(fullB, 1+edits(lastPart(key), lastPart(b)))
		if nearA != nearB {
			return nearA - nearB
		}
		return fullA - fullB
	})
}

// listIndex writes targets[3] as targets[], as knownKeys does.
func listIndex(key string) string {
	before, rest, ok := strings.Cut(key, "[")
	_, after, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return key
	}
	return before + "[]" + after
}

func lastPart(key string) string { return key[strings.LastIndex(key, keyDelimiter)+1:] }

// edits is the Levenshtein distance of two ASCII strings.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
