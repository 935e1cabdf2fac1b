package dump

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

const (
	// shownBytes is the longest byte string shown itself; of others only the
	// length is.
	shownBytes = 32
	// shownElements is how many elements of a list are shown on a line.
	shownElements = 4
)

// tree turns any decoded message into what encoding/json prints: structs become
// maps with names as spice.proto would write them, enumerations their names, and
// long byte strings their lengths. What is nil is left out.
func tree(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if s, ok := stringer(v); ok {
		return s
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return tree(v.Elem())
	case reflect.Struct:
		return structTree(v)
	case reflect.Map:
		m := make(map[string]any)
		for _, key := range v.MapKeys() {
			m[fmt.Sprint(key)] = tree(v.MapIndex(key))
		}
		return m
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return byteTree(v)
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = tree(v.Index(i))
		}
		return list
	}
	if !v.CanInterface() {
		return fmt.Sprint(v)
	}
	return v.Interface()
}

// stringer returns the name of a value whose type gives it one.
func stringer(v reflect.Value) (string, bool) {
	if !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", false
	}
	switch s := v.Interface().(type) {
	case fmt.Stringer:
		return s.String(), true
	case error:
		return s.Error(), true
	}
	return "", false
}

func structTree(v reflect.Value) map[string]any {
	m := make(map[string]any)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		value := tree(v.Field(i))
		switch inner, nested := value.(map[string]any); {
		case value == nil:
		case f.Anonymous && nested:
			for name, value := range inner {
				m[name] = value
			}
		default:
			m[snake(f.Name)] = value
		}
	}
	return m
}

func byteTree(v reflect.Value) any {
	n := v.Len()
	if n > shownBytes {
		return fmt.Sprintf("%d bytes", n)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(v.Index(i).Uint())
	}
	return hex.EncodeToString(b)
}

// snake turns MultiMediaTime into multi_media_time, and RAMHint into ram_hint.
func snake(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		starts := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if starts {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// line writes the fields of a struct on one line: name=value, with a dot between
// the levels.
func line(out *strings.Builder, name string, v reflect.Value) {
	if !v.IsValid() {
		return
	}
	_, named := stringer(v)
	switch kind := v.Kind(); {
	case named:
	case kind == reflect.Slice && v.IsNil():
		return
	case kind == reflect.Pointer || kind == reflect.Interface:
		line(out, name, v.Elem())
		return
	case kind == reflect.Struct:
		lineStruct(out, name, v)
		return
	case kind == reflect.Map:
		lineMap(out, name, v)
		return
	case (kind == reflect.Slice || kind == reflect.Array) && v.Type().Elem().Kind() != reflect.Uint8:
		pair(out, name, list(v))
		return
	}
	pair(out, name, text(tree(v)))
}

func pair(out *strings.Builder, name, value string) {
	out.WriteByte(' ')
	if name != "" {
		out.WriteString(name)
		out.WriteByte('=')
	}
	out.WriteString(value)
}

func lineStruct(out *strings.Builder, name string, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		switch {
		case !f.IsExported():
		case f.Anonymous:
			line(out, name, v.Field(i))
		default:
			line(out, join(name, snake(f.Name)), v.Field(i))
		}
	}
}

// lineMap writes a map in the order of its keys.
func lineMap(out *strings.Builder, name string, v reflect.Value) {
	m := tree(v).(map[string]any)
	for _, key := range sortedKeys(m) {
		if inner, nested := m[key].(map[string]any); nested {
			lineMap(out, join(name, key), reflect.ValueOf(inner))
			continue
		}
		pair(out, join(name, key), text(m[key]))
	}
}

func join(outer, inner string) string {
	if outer == "" {
		return inner
	}
	return outer + "." + inner
}

// list shows the first elements, those that are structs in braces.
func list(v reflect.Value) string {
	parts := make([]string, 0, shownElements+1)
	for i := range min(v.Len(), shownElements) {
		var one strings.Builder
		line(&one, "", v.Index(i))
		element := strings.TrimPrefix(one.String(), " ")
		if strings.Contains(element, "=") {
			element = "{" + element + "}"
		}
		parts = append(parts, element)
	}
	if more := v.Len() - shownElements; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// text shows a leaf; strings with blanks or control characters are quoted.
func text(v any) string {
	s := fmt.Sprint(v)
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
