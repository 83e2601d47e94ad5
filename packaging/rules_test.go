package packaging

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// placeOf finds the floor of a package by its folder.
func placeOf(dir string) (place, bool) {
	if p, ok := places[dir]; ok {
		return p, true
	}
	return place{1, 0}, slices.ContainsFunc(adapters, func(a string) bool { return strings.HasPrefix(dir, a) })
}

func mayImport(from, to place) bool {
	switch from.floor {
	case 4:
		return true
	case 3:
		return to.floor == 0 || to.floor == 2
	case 2:
		return to.floor == 0 || to.floor == 2 && to.step < from.step
	case 1:
		return to.floor == 0
	}
	return to.floor == 0 && to.step < from.step
}

// own cuts our module's name off an import path; the root package is ".".
func own(name string) (dir string, ok bool) {
	if name == "pinch" {
		return ".", true
	}
	return strings.CutPrefix(name, "pinch/")
}

func floors(h *house) (all []guilt) {
	for _, f := range h.code() {
		from, ok := placeOf(f.dir)
		if !ok {
			all = append(all, guilt{where: f.dir, what: "has no floor: give it a place or fold it into its user"})
			continue
		}
		for _, name := range f.imports() {
			dir, ok := own(name)
			if !ok {
				continue
			}
			if to, known := placeOf(dir); !known || !mayImport(from, to) {
				all = append(all, guilt{where: f.path, what: "imports " + dir})
			} else if isFake(dir) && !isFake(f.dir) {
				all = append(all, guilt{where: f.path, what: "imports " + dir + ", which is for tests"})
			}
		}
	}
	return all
}

// below says whether an import path is the module or a package of it.
func below(name, module string) bool { return name == module || strings.HasPrefix(name, module+"/") }

func outside(h *house) (all []guilt) {
	for _, f := range h.files {
		for _, name := range f.imports() {
			if _, ours := own(name); ours || !strings.Contains(strings.Split(name, "/")[0], ".") {
				continue
			}
			ok := (f.test || isFake(f.dir)) && slices.ContainsFunc(testOnly, func(m string) bool { return below(name, m) })
			for module, dirs := range homes {
				ok = ok || below(name, module) && (f.test || slices.Contains(dirs, f.dir))
			}
			if !ok {
				all = append(all, guilt{where: f.path, what: "imports " + name})
			}
		}
	}
	return all
}

// uses finds the places where a file names one of the things, each written "path.Name"; "path.*" is the import itself.
func (h *house) uses(f sourceFile, things ...string) (all []guilt) {
	local := make(map[string]string) // as the file calls the package -> its path
	for i, name := range f.imports() {
		as := path.Base(name)
		if spec := f.tree.Imports[i]; spec.Name != nil {
			as = spec.Name.Name
		}
		local[as] = name
		if slices.Contains(things, name+".*") {
			all = append(all, guilt{where: f.path, what: "imports " + name})
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(things, local[x.Name]+"."+sel.Sel.Name) {
			all = append(all, guilt{where: f.path, what: fmt.Sprintf("uses %s.%s in line %d", x.Name, sel.Sel.Name, h.line(sel.Pos()))})
		}
		return true
	})
	return all
}

func processes(h *house) (all []guilt) {
	for _, f := range h.files {
		if !slices.ContainsFunc(starters, func(p string) bool { ok, _ := path.Match(p, f.path); return ok }) {
			all = append(all, h.uses(f, "os/exec.*", "os.StartProcess", "syscall.ForkExec", "syscall.Exec", "golang.org/x/sys/unix.Exec")...)
		}
	}
	return all
}

// globals finds global loggers, init functions, and what makes reflect.Value.MethodByName reachable.
func globals(h *house) (all []guilt) {
	for _, f := range h.files {
		if !f.test {
			all = append(all, h.uses(f, "log.*", "text/template.*", "html/template.*",
				"log/slog.Default", "log/slog.SetDefault", "log/slog.Debug", "log/slog.Info", "log/slog.Warn", "log/slog.Error")...)
		}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				all = append(all, guilt{where: f.path, what: "has an init function"})
			}
		}
	}
	return all
}

func sleeps(h *house) (all []guilt) {
	for _, f := range h.files {
		all = append(all, h.uses(f, "time.Sleep")...)
	}
	return all
}

func contexts(h *house) (all []guilt) {
	for _, f := range h.code() {
		if f.path != "main.go" {
			all = append(all, h.uses(f, "context.Background", "context.TODO")...)
		}
	}
	return all
}

func docs(h *house) (all []guilt) {
	documented := make(map[string]bool)
	for _, f := range h.files {
		has := !f.test && f.tree.Doc != nil && (f.dir == "." || strings.HasPrefix(f.tree.Doc.Text(), "Package "+f.tree.Name.Name+" "))
		documented[f.dir] = documented[f.dir] || has
	}
	for dir, ok := range documented {
		if !ok {
			all = append(all, guilt{where: dir, what: "has no package comment"})
		}
	}
	return all
}

func names(h *house) (all []guilt) {
	vague := []string{
		"util", "utils", "common", "core", "types", "bus", "manager", "helper", "helpers", "misc", "shared", "base", "lib", "internal",
	}
	for _, f := range h.files {
		steps := append(strings.Split(f.dir, "/"), f.tree.Name.Name)
		if slices.ContainsFunc(steps, func(s string) bool { return slices.Contains(vague, s) }) {
			all = append(all, guilt{where: f.path, what: "is in a package with a vague name"})
		}
		switch path.Base(f.path) {
		case "helpers.go", "types.go", "constants.go", "utils.go", "util.go":
			all = append(all, guilt{where: f.path, what: "has a vague name"})
		}
	}
	return all
}

func goStatements(h *house) (all []guilt) {
	total := 0
	found := make(map[string]int)
	for _, f := range h.product() {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found[f.path]++
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" && len(n.Args) == 1 {
					found[f.path]++
				}
			}
			return true
		})
		total += found[f.path]
	}
	for file, n := range found {
		if n != h.listed[file].n {
			all = append(all, guilt{where: file, what: fmt.Sprintf("starts goroutines in %d places, %d are listed", n, h.listed[file].n)})
		}
	}
	for file, l := range h.listed {
		if found[file] == 0 || l.owner == "" {
			all = append(all, guilt{where: file, what: "is listed and starts none, or has no owner"})
		}
	}
	return append(all, tooMuch(".", total, 16, "go statements")...)
}

// variables finds package variables that change, and those that are made to: locks, pools, counters.
func variables(h *house) (all []guilt) {
	known := make(map[string]bool) // dir:name
	for _, f := range h.code() {
		for _, d := range f.tree.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			for _, spec := range decl.Specs {
				v := spec.(*ast.ValueSpec)
				for _, name := range v.Names {
					known[f.dir+":"+name.Name] = true
				}
				if root := rootOf(v.Type); root == "sync" || root == "atomic" {
					all = append(all, guilt{where: f.path + ":" + v.Names[0].Name, what: "is a package variable that changes"})
				}
			}
		}
	}
	for _, f := range h.code() {
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			changed, local := changes(fn)
			for _, name := range changed {
				if name != "_" && known[f.dir+":"+name] && !local[name] {
					all = append(all, guilt{where: f.path + ":" + fn.Name.Name, what: "changes the package variable " + name})
				}
			}
		}
	}
	return all
}

// rootOf is the name that an expression such as a.b[c].d begins with.
func rootOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return rootOf(e.X)
	case *ast.IndexExpr:
		return rootOf(e.X)
	case *ast.StarExpr:
		return rootOf(e.X)
	case *ast.ParenExpr:
		return rootOf(e.X)
	}
	return ""
}

// changes lists the names that a function assigns to, and those that it declares itself.
func changes(fn *ast.FuncDecl) (changed []string, local map[string]bool) {
	local = make(map[string]bool)
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if n.Tok == token.DEFINE {
					local[rootOf(e)] = true
				} else {
					changed = append(changed, rootOf(e))
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				local[rootOf(n.Key)], local[rootOf(n.Value)] = true, true
			}
		case *ast.IncDecStmt:
			changed = append(changed, rootOf(n.X))
		case *ast.CallExpr:
			if f := rootOf(n.Fun); (f == "delete" || f == "clear" || f == "copy") && len(n.Args) > 0 {
				changed = append(changed, rootOf(n.Args[0]))
			}
		}
		return true
	})
	return changed, local
}
