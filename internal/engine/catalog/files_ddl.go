package catalog

import (
	"strings"

	"github.com/sqlc-dev/teesql/ast"

	"gostress/internal/engine/sqlerr"
)

// CreateDatabaseFrom carries out CREATE DATABASE.
func (in *Instance) CreateDatabaseFrom(s *ast.CreateDatabaseStatement) (*Database, error) {
	switch {
	case s.DatabaseSnapshot != nil:
		return nil, sqlerr.Unsupported("CREATE DATABASE AS SNAPSHOT OF")
	case s.CopyOf != nil:
		return nil, sqlerr.Unsupported("CREATE DATABASE AS COPY OF")
	case s.AttachMode != "" && s.AttachMode != "None":
		return nil, sqlerr.Unsupported("CREATE DATABASE FOR ATTACH")
	case s.Containment != nil && s.Containment.Value != "None":
		return nil, sqlerr.UnsupportedOption("CONTAINMENT = PARTIAL")
	case len(s.Options) > 0:
		return nil, sqlerr.UnsupportedOption("WITH options of CREATE DATABASE")
	}
	if s.Collation != nil {
		// ALTER DATABASE COLLATE knows which ones there are.
		probe := &Database{instance: in}
		probe.snap.Store(&snapshot{})
		if _, _, err := in.AlterDatabase(&ast.AlterDatabaseCollateStatement{Collation: s.Collation}, probe); err != nil {
			return nil, err
		}
	}
	db, err := in.CreateDatabase(s.DatabaseName.Value)
	if err != nil || len(s.FileGroups)+len(s.LogOn) == 0 {
		return db, err
	}
	err = db.edit(nil, func(sn *snapshot) error {
		log := sn.files[1]
		if len(s.FileGroups) > 0 {
			sn.files = nil
		} else {
			sn.files = sn.files[:1]
		}
		for _, g := range s.FileGroups {
			name := "PRIMARY"
			if g.Name != nil {
				name = g.Name.Value
				if err := sn.addFileGroup(name, g.ContainsMemoryOptimizedData, g.ContainsFileStream); err != nil {
					return err
				}
			}
			for _, f := range g.FileDeclarations {
				if err := sn.addFile(in, f, name, false); err != nil {
					return err
				}
			}
		}
		if len(s.LogOn) == 0 {
			log.ID = sn.nextFile()
			sn.files = append(sn.files, log)
		}
		for _, f := range s.LogOn {
			if err := sn.addFile(in, f, "", true); err != nil {
				return err
			}
		}
		sn.numberFiles()
		return nil
	})
	if err != nil {
		if e := in.DropDatabase(db.Name()); e != nil {
			return nil, e
		}
		return nil, err
	}
	return db, nil
}

// numberFiles gives the first data file id 1 and the first log file id 2, as SQL
// Server does, and the others what follows.
func (s *snapshot) numberFiles() {
	next, data, log := int32(3), false, false
	for i := range s.files {
		f := &s.files[i]
		switch {
		case f.Type == 0 && !data:
			f.ID, data = 1, true
		case f.Type == 1 && !log:
			f.ID, log = 2, true
		default:
			f.ID = next
			next++
		}
	}
	sorted := make([]File, 0, len(s.files))
	for id := int32(1); id < next; id++ {
		for _, f := range s.files {
			if f.ID == id {
				sorted = append(sorted, f)
			}
		}
	}
	s.files = sorted
}

func (s *snapshot) nextFile() int32 {
	id := int32(1)
	for _, f := range s.files {
		id = max(id, f.ID+1)
	}
	return id
}

func (s *snapshot) addFileGroup(name string, memory, stream bool) error {
	if stream {
		return sqlerr.UnsupportedOption("CONTAINS FILESTREAM")
	}
	id := int32(1)
	for _, g := range s.groups {
		if EqualName(g.Name, name) {
			return sqlerr.New(1828, 16, 3, "The logical file or filegroup name \"%s\" is in use already. Choose another.", name)
		}
		if memory && g.Type == "FX" {
			return sqlerr.New(10797, 15, 2, "Only one filegroup for memory optimized data is allowed in a database.")
		}
		id = max(id, g.ID+1)
	}
	typ := "FG"
	if memory {
		typ = "FX"
	}
	s.fileSerial++
	s.groups = append(s.groups, FileGroup{ID: id, Name: name, Type: typ})
	return nil
}

func (s *snapshot) group(name string) (*FileGroup, error) {
	for i := range s.groups {
		if EqualName(s.groups[i].Name, name) || EqualName(name, "DEFAULT") && s.groups[i].Default {
			return &s.groups[i], nil
		}
	}
	return nil, sqlerr.New(1921, 16, 2, "The filegroup '%s' is not valid.", name)
}

func (s *snapshot) addFile(in *Instance, decl *ast.FileDeclaration, group string, log bool) error {
	f := File{ID: s.nextFile(), SizePages: 1024, MaxPages: -1, Growth: 8192}
	if log {
		f.Type, f.MaxPages = 1, 268435456
	} else {
		if group == "" {
			group = "PRIMARY"
		}
		g, err := s.group(group)
		if err != nil {
			return err
		}
		f.Group = g.ID
		if g.Type == "FX" {
			f.Type, f.SizePages, f.Growth = 2, 0, 0
		}
	}
	if err := f.set(decl); err != nil {
		return err
	}
	if f.Name == "" {
		return sqlerr.New(1802, 16, 4, "A file needs a NAME.")
	}
	if f.Path == "" {
		ext := map[uint8]string{0: ".ndf", 1: ".ldf"}[f.Type]
		f.Path = joinPath(in.opts.DataPath, f.Name+ext)
	}
	for _, o := range s.files {
		if EqualName(o.Name, f.Name) {
			return sqlerr.New(1828, 16, 4, "The logical file or filegroup name \"%s\" is in use already. Choose another.", f.Name)
		}
		if EqualName(o.Path, f.Path) {
			return sqlerr.New(1833, 16, 2, "The file '%s' cannot be used twice by the database.", f.Path)
		}
	}
	s.fileSerial++
	s.files = append(s.files, f)
	return nil
}

// set reads the options of a file.
func (f *File) set(decl *ast.FileDeclaration) error {
	for _, o := range decl.Options {
		switch o := o.(type) {
		case *ast.NameFileDeclarationOption:
			if o.LogicalFileName != nil {
				f.Name = o.LogicalFileName.Value
			}
		case *ast.FileNameFileDeclarationOption:
			f.Path = o.OSFileName.Value
		case *ast.SizeFileDeclarationOption:
			n, err := pages(o.Size, o.Units)
			if err != nil {
				return err
			}
			f.SizePages = n
		case *ast.MaxSizeFileDeclarationOption:
			if o.Unlimited {
				f.MaxPages = -1
				continue
			}
			n, err := pages(o.MaxSize, o.Units)
			if err != nil {
				return err
			}
			f.MaxPages = n
		case *ast.FileGrowthFileDeclarationOption:
			if f.PercentGrowth = o.Units == "Percent"; f.PercentGrowth {
				n, err := integer(o.GrowthIncrement)
				if err != nil {
					return sqlerr.New(102, 15, 1, "FILEGROWTH needs a whole number.")
				}
				f.Growth = int32(n)
				continue
			}
			n, err := pages(o.GrowthIncrement, o.Units)
			if err != nil {
				return err
			}
			f.Growth = n
		default:
			return sqlerr.UnsupportedOption("this file option")
		}
	}
	return nil
}

// pages turns a size into pages of 8 KB; without a unit it is in MB.
func pages(e ast.ScalarExpression, unit string) (int32, error) {
	n, err := integer(e)
	if err != nil {
		return 0, sqlerr.New(102, 15, 1, "A file size must be a whole number.")
	}
	switch strings.ToUpper(unit) {
	case "KB":
		n = (n + 7) / 8
	case "GB":
		n *= 128 * 1024
	case "TB":
		n *= 128 * 1024 * 1024
	default:
		n *= 128
	}
	if n < 0 || n > 1<<31-1 {
		return 0, sqlerr.New(1842, 16, 1, "The file size is larger than the largest allowed, 16 TB.")
	}
	return int32(n), nil
}

func (s *snapshot) file(name string) (*File, error) {
	for i := range s.files {
		if EqualName(s.files[i].Name, name) {
			return &s.files[i], nil
		}
	}
	return nil, sqlerr.New(5009, 16, 9, "One or more files in the statement cannot be found: '%s'.", name)
}

func (s *snapshot) modifyFile(decl *ast.FileDeclaration) error {
	newName := ""
	var rest []ast.FileDeclarationOption
	var f *File
	for _, o := range decl.Options {
		n, ok := o.(*ast.NameFileDeclarationOption)
		switch {
		case !ok:
			rest = append(rest, o)
		case n.IsNewName:
			newName = n.LogicalFileName.Value
		default:
			var err error
			if f, err = s.file(n.LogicalFileName.Value); err != nil {
				return err
			}
		}
	}
	if f == nil {
		return sqlerr.New(5009, 16, 9, "MODIFY FILE needs the NAME of a file.")
	}
	was := f.SizePages
	if err := f.set(&ast.FileDeclaration{Options: rest}); err != nil {
		return err
	}
	if f.SizePages < was {
		return sqlerr.New(5039, 16, 1, "MODIFY FILE failed: the size given is less than or equal to the current size.")
	}
	if newName != "" {
		f.Name = newName
	}
	s.fileSerial++
	return nil
}

func (s *snapshot) modifyFileGroup(st *ast.AlterDatabaseModifyFileGroupStatement) error {
	g, err := s.group(st.FileGroupName.Value)
	if err != nil {
		return err
	}
	switch {
	case st.MakeDefault:
		for i := range s.groups {
			s.groups[i].Default = false
		}
		g.Default = true
	case st.NewFileGroupName != nil:
		g.Name = st.NewFileGroupName.Value
	default:
		return sqlerr.UnsupportedOption("MODIFY FILEGROUP " + st.UpdatabilityOption)
	}
	s.fileSerial++
	return nil
}

func (s *snapshot) removeFile(name string) error {
	f, err := s.file(name)
	if err != nil {
		return err
	}
	if f.ID <= 2 {
		return sqlerr.New(5020, 16, 1, "The primary data or log file cannot be removed from a database.")
	}
	if f.Type == 2 && s.anyMemoryOptimized() {
		return sqlerr.New(41802, 16, 1, "The file '%s' holds memory optimized data and cannot be removed.", f.Name)
	}
	for i := range s.files {
		if s.files[i].ID == f.ID {
			s.files = append(s.files[:i], s.files[i+1:]...)
			break
		}
	}
	s.fileSerial++
	return nil
}

func (s *snapshot) anyMemoryOptimized() bool {
	for _, o := range s.objects {
		if t, ok := o.(*Table); ok && t.MemoryOptimized {
			return true
		}
	}
	return false
}

func (s *snapshot) removeFileGroup(name string) error {
	g, err := s.group(name)
	if err != nil {
		return err
	}
	for _, f := range s.files {
		if f.Group == g.ID {
			return sqlerr.New(5042, 16, 11, "The filegroup '%s' cannot be removed: it is not empty.", g.Name)
		}
	}
	if g.ID == 1 || g.Default {
		return sqlerr.New(5042, 16, 12, "The filegroup '%s' cannot be removed: it is the default one.", g.Name)
	}
	for i := range s.groups {
		if s.groups[i].ID == g.ID {
			s.groups = append(s.groups[:i], s.groups[i+1:]...)
			break
		}
	}
	s.fileSerial++
	return nil
}
