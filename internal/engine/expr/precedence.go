package expr

import "github.com/sqlc-dev/teesql/ast"

// precedence of the binary operators as T-SQL documents it: * / % bind
// tighter than all the others, which are of one rank.
func precedence(op string) int {
	switch op {
	case "Multiply", "Divide", "Modulo":
		return 2
	}
	return 1
}

// grouped reports whether a tree of operators is what precedence makes of it.
// The parser gives bitwise operators ranks of their own, and takes what follows
// a leading variable of a select list (SELECT @a + @b * 2) from left to right.
func grouped(e *ast.BinaryExpression) bool {
	for {
		p := precedence(e.BinaryExpressionType)
		if r, ok := e.SecondExpression.(*ast.BinaryExpression); ok && (precedence(r.BinaryExpressionType) <= p || !grouped(r)) {
			return false
		}
		l, ok := e.FirstExpression.(*ast.BinaryExpression)
		if !ok {
			return true
		}
		if precedence(l.BinaryExpressionType) < p {
			return false
		}
		e = l
	}
}

// regroup builds the tree anew from its operands in the order of the text;
// parentheses are nodes of their own and stay closed.
func regroup(e *ast.BinaryExpression) ast.ScalarExpression {
	var operands []ast.ScalarExpression
	var nodes []*ast.BinaryExpression
	var walk func(ast.ScalarExpression)
	walk = func(x ast.ScalarExpression) {
		// Down the left side without recursion.
		var spine []*ast.BinaryExpression
		for {
			b, ok := x.(*ast.BinaryExpression)
			if !ok {
				break
			}
			spine = append(spine, b)
			x = b.FirstExpression
		}
		operands = append(operands, x)
		for i := len(spine) - 1; i >= 0; i-- {
			nodes = append(nodes, spine[i])
			walk(spine[i].SecondExpression)
		}
	}
	walk(e)
	join := func(n *ast.BinaryExpression, l, r ast.ScalarExpression) ast.ScalarExpression {
		return &ast.BinaryExpression{Fragment: n.Fragment, BinaryExpressionType: n.BinaryExpressionType, FirstExpression: l, SecondExpression: r}
	}
	// Two ranks: sums of products.
	var sum ast.ScalarExpression
	var plus *ast.BinaryExpression
	product := operands[0]
	for i, n := range nodes {
		if precedence(n.BinaryExpressionType) == 2 {
			product = join(n, product, operands[i+1])
			continue
		}
		if plus == nil {
			sum = product
		} else {
			sum = join(plus, sum, product)
		}
		plus, product = n, operands[i+1]
	}
	if plus == nil {
		return product
	}
	return join(plus, sum, product)
}
