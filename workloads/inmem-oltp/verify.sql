-- gostress workload inmem-oltp: what must hold of the tables ..._$(gs_form) at any time.
--
-- Each batch returns one number. "check" names it; "want" is the number it must give: a number, or
--   $(gs_orders)  orders inserted since the last reset, $(gs_lines) = five times that;
-- "part" limits a check to our own install (ours) or to Microsoft's sample (microsoft); without it, both.
-- $(gs_header) and $(gs_detail) hold the original orders. $(gs_hint) is WITH (SNAPSHOT) for the memory-
-- optimized tables, so that one statement may read both kinds, and nothing for the others.
-- $(gs_new) is true of a new order h: on our install its number is not among the originals; on Microsoft's
-- sample, whose reset need not keep numbers, its date is after the last original's.

-- check: products
-- want: 504
-- part: ours
SELECT COUNT(*) FROM Production.Product_$(gs_form);
GO

-- check: special offers
-- want: 16
-- part: ours
SELECT COUNT(*) FROM Sales.SpecialOffer_$(gs_form);
GO

-- check: pairs of offer and product
-- want: 538
-- part: ours
SELECT COUNT(*) FROM Sales.SpecialOfferProduct_$(gs_form);
GO

-- check: seed orders 1 to 106 that have not five lines
-- want: 0
SELECT 106 - COUNT(*)
FROM
(
    SELECT OrderID
    FROM Demo.DemoSalesOrderDetailSeed
    WHERE OrderID BETWEEN 1 AND 106
    GROUP BY OrderID
    HAVING COUNT(*) = 5
) AS s;
GO

-- check: original orders that are missing
-- want: 0
-- part: ours
SELECT COUNT(*)
FROM $(gs_header) AS o
WHERE NOT EXISTS (SELECT * FROM Sales.SalesOrderHeader_$(gs_form) AS h $(gs_hint) WHERE h.SalesOrderID = o.SalesOrderID);
GO

-- check: original order lines that are missing
-- want: 0
-- part: ours
SELECT COUNT(*)
FROM $(gs_detail) AS o
WHERE NOT EXISTS (SELECT * FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)
                  WHERE d.SalesOrderID = o.SalesOrderID AND d.SalesOrderDetailID = o.SalesOrderDetailID);
GO

-- check: orders above the originals
-- want: $(gs_orders)
SELECT (SELECT COUNT_BIG(*) FROM Sales.SalesOrderHeader_$(gs_form) AS h $(gs_hint)) - (SELECT COUNT_BIG(*) FROM $(gs_header) AS o);
GO

-- check: order lines above the originals
-- want: $(gs_lines)
SELECT (SELECT COUNT_BIG(*) FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)) - (SELECT COUNT_BIG(*) FROM $(gs_detail) AS o);
GO

-- check: new orders that have not five lines
-- want: 0
SELECT COUNT_BIG(*)
FROM Sales.SalesOrderHeader_$(gs_form) AS h $(gs_hint)
WHERE $(gs_new)
  AND (SELECT COUNT(*) FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint) WHERE d.SalesOrderID = h.SalesOrderID) <> 5;
GO

-- check: new orders whose SubTotal is not the sum of ROUND(OrderQty * UnitPrice * (1 - UnitPriceDiscount), 4)
-- want: 0
-- part: ours
SELECT COUNT_BIG(*)
FROM Sales.SalesOrderHeader_$(gs_form) AS h $(gs_hint)
WHERE $(gs_new)
  AND h.SubTotal <> ISNULL((SELECT SUM(ROUND(d.OrderQty * d.UnitPrice * (1 - d.UnitPriceDiscount), 4))
                            FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)
                            WHERE d.SalesOrderID = h.SalesOrderID), 0);
GO

-- check: new orders whose SubTotal is not the sum of UnitPrice - UnitPriceDiscount, the amount (Microsoft's formula)
-- want: 0
-- part: microsoft
SELECT COUNT_BIG(*)
FROM Sales.SalesOrderHeader_$(gs_form) AS h $(gs_hint)
WHERE $(gs_new)
  AND ABS(h.SubTotal - ISNULL((SELECT SUM(d.UnitPrice - d.UnitPriceDiscount)
                               FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)
                               WHERE d.SalesOrderID = h.SalesOrderID), 0)) > 0.001;
GO

-- check: order lines without an order
-- want: 0
SELECT COUNT_BIG(*)
FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)
WHERE NOT EXISTS (SELECT * FROM Sales.SalesOrderHeader_$(gs_form) AS h $(gs_hint) WHERE h.SalesOrderID = d.SalesOrderID);
GO

-- check: order lines whose product is not in their offer
-- want: 0
SELECT COUNT_BIG(*)
FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)
WHERE NOT EXISTS (SELECT * FROM Sales.SpecialOfferProduct_$(gs_form) AS p $(gs_hint)
                  WHERE p.SpecialOfferID = d.SpecialOfferID AND p.ProductID = d.ProductID);
GO

-- check: order lines whose price or discount is not that of product and offer
-- want: 0
-- part: ours
SELECT COUNT_BIG(*)
FROM Sales.SalesOrderDetail_$(gs_form) AS d $(gs_hint)
WHERE NOT EXISTS (SELECT * FROM $(gs_detail) AS o WHERE o.SalesOrderID = d.SalesOrderID AND o.SalesOrderDetailID = d.SalesOrderDetailID)
  AND NOT EXISTS (SELECT * FROM Production.Product_$(gs_form) AS p $(gs_hint)
                  INNER JOIN Sales.SpecialOffer_$(gs_form) AS s $(gs_hint) ON s.SpecialOfferID = d.SpecialOfferID
                  WHERE p.ProductID = d.ProductID AND p.ListPrice = d.UnitPrice AND s.DiscountPct = d.UnitPriceDiscount);
GO
