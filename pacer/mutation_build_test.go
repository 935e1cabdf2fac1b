package pacer_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutantVariable tells a test binary which mutant it is, by its number from 1.
const mutantVariable = "SPICEPACER_MUTANT"

// buildMutants compiles the tests of the package in dir with all of its mutants: of
// each function that one changes there is a copy, and mutantVariable tells which
// is called. One build for all takes seconds, one for each an hour.
func buildMutants(t *testing.T, dir string, all []mutant) (binary string) {
	t.Helper()
	files := make(map[string]*mutatedFile)
	for i, m := range all {
		if filepath.Dir(m.file) != dir {
			continue
		}
		if files[m.file] == nil {
			files[m.file] = newMutatedFile(t, m.file)
		}
		files[m.file].add(t, i+1, m)
	}
	work := t.TempDir()
	replace := make(map[string]string)
	overlay := func(file, text string) {
		replace[absolute(t, file)] = filepath.Join(work, filepath.Base(file))
		writeFile(t, filepath.Join(work, filepath.Base(file)), text)
	}
	for file, f := range files {
		overlay(file, f.text())
		overlay(filepath.Join(dir, "mutant_number.go"), fmt.Sprintf(numberSource, f.tree.Name, mutantVariable))
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(work, "overlay.json"), string(list))
	binary = filepath.Join(work, "mutants.test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(work, "overlay.json"), "-o", binary, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the mutants of %s do not compile: %v\n%s", dir, err, out)
	}
	return binary
}

const numberSource = `package %s

import (
	"os"
	"strconv"
)

var mutantNumber = func() int {
	n, err := strconv.Atoi(os.Getenv(%q))
	if err != nil {
		return 0
	}
	return n
}()
`

func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// mutatedFile is a source file with copies of its functions.
type mutatedFile struct {
	source string
	tree   *ast.File
	copies map[*ast.FuncDecl][]functionCopy
}

type functionCopy struct {
	number int
	text   string
}

func newMutatedFile(t *testing.T, file string) *mutatedFile {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// In a file set of its own, a position is an offset plus 1.
	tree, err := parser.ParseFile(token.NewFileSet(), file, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return &mutatedFile{string(source), tree, make(map[*ast.FuncDecl][]functionCopy)}
}

// add makes the copy of the function that m changes.
func (f *mutatedFile) add(t *testing.T, number int, m mutant) {
	t.Helper()
	start := strings.Index(f.source, m.old)
	end := start + len(m.old)
	now := m.new
	for start < end && now != "" && f.source[start] == now[0] {
		start, now = start+1, now[1:]
	}
	for start < end && now != "" && f.source[end-1] == now[len(now)-1] {
		end, now = end-1, now[:len(now)-1]
	}
	for _, d := range f.tree.Decls {
		fn, is := d.(*ast.FuncDecl)
		if !is || start < int(fn.Pos())-1 || end > int(fn.End())-1 {
			continue
		}
		name := int(fn.Name.End()) - 1
		text := f.source[fn.Pos()-1:name] + copyName(number) + f.source[name:start] + now + f.source[end:fn.End()-1]
		f.copies[fn] = append(f.copies[fn], functionCopy{number, text})
		return
	}
	t.Fatalf("%q is in no function of %s", m.old, m.file)
}

func copyName(number int) string { return fmt.Sprintf("Mutant%d", number) }

// text is the file with all copies, and where there are some a function that
// calls the one that is asked for.
func (f *mutatedFile) text() string {
	var text, more strings.Builder
	at := 0
	for _, d := range f.tree.Decls {
		fn, _ := d.(*ast.FuncDecl)
		copies := f.copies[fn]
		if fn == nil || copies == nil {
			continue
		}
		name := int(fn.Name.End()) - 1
		text.WriteString(f.source[at:name] + copyName(0))
		at = name
		fmt.Fprintf(&more, "\n%s{\n\tswitch mutantNumber {\n", f.source[fn.Pos()-1:fn.Body.Pos()-1])
		for _, c := range slices.Concat(copies, []functionCopy{{number: 0}}) {
			if c.number == 0 {
				more.WriteString("\tdefault:\n")
			} else {
				fmt.Fprintf(&more, "\tcase %d:\n", c.number)
			}
			fmt.Fprintf(&more, "\t\t%s\n", callOf(fn, c.number))
		}
		more.WriteString("\t}\n}\n")
		for _, c := range copies {
			more.WriteString("\n" + c.text + "\n")
		}
	}
	return text.String() + f.source[at:] + more.String()
}

// callOf calls a copy of fn with fn's own arguments, each of which has a name.
func callOf(fn *ast.FuncDecl, number int) string {
	call := fn.Name.Name + copyName(number) + "(" + strings.Join(namesOf(fn.Type.Params), ", ") + ")"
	if fn.Recv != nil {
		call = namesOf(fn.Recv)[0] + "." + call
	}
	if fn.Type.Results != nil {
		return "return " + call
	}
	return call
}

func namesOf(fields *ast.FieldList) (names []string) {
	for _, field := range fields.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}
