package packaging

import (
	"fmt"
	"go/ast"
	"slices"
)

// tooMuch is a guilt when n is over the ceiling.
func tooMuch(where string, n, ceiling int, what string) []guilt {
	if n <= ceiling {
		return nil
	}
	return []guilt{{where: where, what: fmt.Sprintf("%d %s, %d are allowed", n, what, ceiling)}}
}

func fileSizes(h *house) (all []guilt) {
	for _, f := range h.files {
		all = append(all, tooMuch(f.path, f.lines, 600, "lines")...)
	}
	return all
}

// longFiles allows one file in ten to be longer than usual.
func longFiles(h *house) []guilt {
	var lines []int
	for _, f := range h.product() {
		lines = append(lines, f.lines)
	}
	slices.Sort(lines)
	return tooMuch(".", lines[(len(lines)*9+9)/10-1], 350, "lines in the file at the ninetieth percent")
}

func functionSizes(h *house) (all []guilt) {
	for _, f := range h.files {
		for _, d := range f.tree.Decls {
			name := ""
			if fn, ok := d.(*ast.FuncDecl); ok {
				name = fn.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.FuncDecl, *ast.FuncLit:
					all = append(all, tooMuch(f.path+":"+name, h.line(n.End())-h.line(n.Pos())+1, 80, "lines")...)
					return false
				}
				return true
			})
		}
	}
	return all
}

// named visits the nodes of a file together with the name of the declaration that they are in.
func named(f sourceFile, visit func(name string, n ast.Node)) {
	for _, d := range f.tree.Decls {
		name := ""
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.TypeSpec:
				name = n.Name.Name
			}
			visit(name, n)
			return true
		})
	}
}

// width counts the names of a list of fields; one without a name counts once.
func width(list *ast.FieldList) (n int) {
	for _, f := range list.List {
		n += max(1, len(f.Names))
	}
	return n
}

func structs(h *house) (all []guilt) {
	for _, f := range h.files {
		named(f, func(name string, n ast.Node) {
			if s, ok := n.(*ast.StructType); ok {
				all = append(all, tooMuch(f.path+":"+name, width(s.Fields), 14, "fields")...)
			}
		})
	}
	return all
}

func interfaces(h *house) (all []guilt) {
	for _, f := range h.files {
		named(f, func(name string, n ast.Node) {
			if i, ok := n.(*ast.InterfaceType); ok {
				all = append(all, tooMuch(f.path+":"+name, width(i.Methods), 3, "methods")...)
			}
		})
	}
	return all
}

func parameters(h *house) (all []guilt) {
	for _, f := range h.files {
		named(f, func(name string, n ast.Node) {
			if fn, ok := n.(*ast.FuncType); ok {
				all = append(all, tooMuch(f.path+":"+name, width(fn.Params), 5, "parameters")...)
			}
		})
	}
	return all
}

// fanOut counts the own packages that a package imports; main imports all.
func fanOut(h *house) (all []guilt) {
	imported := make(map[string]map[string]bool)
	for _, f := range h.code() {
		for _, name := range f.imports() {
			if dir, ok := own(name); ok && f.dir != "." {
				if imported[f.dir] == nil {
					imported[f.dir] = make(map[string]bool)
				}
				imported[f.dir][dir] = true
			}
		}
	}
	for dir, to := range imported {
		ceiling := 8
		switch dir {
		case "agent":
			ceiling = 15
		case "agent/engine":
			ceiling = 10
		}
		all = append(all, tooMuch(dir, len(to), ceiling, "own packages imported")...)
	}
	return all
}

func packages(h *house) []guilt {
	dirs := make(map[string]bool)
	for _, f := range h.files {
		dirs[f.dir] = true
	}
	return tooMuch(".", len(dirs), 45, "packages")
}

// untyped counts map[string]any in code: one in each full thousand lines, and one for the start.
func untyped(h *house) []guilt {
	lines, maps, where := 0, 0, ""
	for _, f := range h.product() {
		lines += f.lines
		ast.Inspect(f.tree, func(n ast.Node) bool {
			m, ok := n.(*ast.MapType)
			if !ok || rootOf(m.Key) != "string" {
				return true
			}
			if i, isInterface := m.Value.(*ast.InterfaceType); rootOf(m.Value) == "any" || isInterface && width(i.Methods) == 0 {
				maps++
				where += fmt.Sprintf(" %s:%d", f.path, h.line(m.Pos()))
			}
			return true
		})
	}
	return tooMuch(".", maps, 1+lines/1000, "times map[string]any:"+where)
}
