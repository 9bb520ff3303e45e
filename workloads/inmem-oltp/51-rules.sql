-- gostress workload inmem-oltp, install, parts ondisk and inmem: the rules of the tables ..._$(gs_form).
--
-- An order may be due a day before it was made: the workload takes the due date from the clock before it
-- calls the procedure, and a client's clock may be late.
DELETE FROM dbo.DomainIntegrity WHERE ObjectName LIKE N'%[_]$(gs_form)';
DELETE FROM dbo.ReferentialIntegrity WHERE ObjectName LIKE N'%[_]$(gs_form)';
DELETE FROM dbo.UniqueIntegrity WHERE ObjectName LIKE N'%[_]$(gs_form)';
GO

INSERT INTO dbo.DomainIntegrity (ObjectName, RuleName, Condition)
SELECT r.ObjectName, r.RuleName, r.Condition
FROM (VALUES
    (N'Production.Product_$(gs_form)', N'StandardCost', N'StandardCost >= 0'),
    (N'Production.Product_$(gs_form)', N'ListPrice', N'ListPrice >= 0'),
    (N'Production.Product_$(gs_form)', N'SafetyStockLevel', N'SafetyStockLevel > 0'),
    (N'Production.Product_$(gs_form)', N'ReorderPoint', N'ReorderPoint > 0'),
    (N'Production.Product_$(gs_form)', N'DaysToManufacture', N'DaysToManufacture >= 0'),
    (N'Production.Product_$(gs_form)', N'Weight', N'Weight IS NULL OR Weight > 0'),
    (N'Production.Product_$(gs_form)', N'ProductLine', N'ProductLine IS NULL OR ProductLine IN (N''M'', N''R'', N''S'', N''T'')'),
    (N'Production.Product_$(gs_form)', N'Class', N'Class IS NULL OR Class IN (N''H'', N''M'', N''L'')'),
    (N'Production.Product_$(gs_form)', N'Style', N'Style IS NULL OR Style IN (N''U'', N''M'', N''W'')'),
    (N'Production.Product_$(gs_form)', N'SellEndDate', N'SellEndDate IS NULL OR SellEndDate >= SellStartDate'),
    (N'Sales.SpecialOffer_$(gs_form)', N'DiscountPct', N'DiscountPct >= 0 AND DiscountPct <= 1'),
    (N'Sales.SpecialOffer_$(gs_form)', N'EndDate', N'EndDate >= StartDate'),
    (N'Sales.SpecialOffer_$(gs_form)', N'MinQty', N'MinQty >= 0'),
    (N'Sales.SpecialOffer_$(gs_form)', N'MaxQty', N'MaxQty IS NULL OR MaxQty >= 0'),
    (N'Sales.SalesOrderHeader_$(gs_form)', N'Status', N'Status <= 8'),
    (N'Sales.SalesOrderHeader_$(gs_form)', N'DueDate', N'DATEADD(day, 1, DueDate) >= OrderDate'),
    (N'Sales.SalesOrderHeader_$(gs_form)', N'ShipDate', N'ShipDate IS NULL OR ShipDate >= OrderDate'),
    (N'Sales.SalesOrderHeader_$(gs_form)', N'SubTotal', N'SubTotal >= 0'),
    (N'Sales.SalesOrderHeader_$(gs_form)', N'TaxAmt', N'TaxAmt >= 0'),
    (N'Sales.SalesOrderHeader_$(gs_form)', N'Freight', N'Freight >= 0'),
    (N'Sales.SalesOrderDetail_$(gs_form)', N'OrderQty', N'OrderQty > 0'),
    (N'Sales.SalesOrderDetail_$(gs_form)', N'UnitPrice', N'UnitPrice >= 0'),
    (N'Sales.SalesOrderDetail_$(gs_form)', N'UnitPriceDiscount', N'UnitPriceDiscount >= 0 AND UnitPriceDiscount <= 1')
) AS r (ObjectName, RuleName, Condition);
PRINT N'filled dbo.DomainIntegrity for $(gs_form): ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rules';
GO

INSERT INTO dbo.ReferentialIntegrity
    (ObjectName, RuleName, Column1, Column2, ReferencedObjectName, ReferencedColumn1, ReferencedColumn2)
SELECT r.ObjectName, r.RuleName, r.Column1, r.Column2, r.ReferencedObjectName, r.ReferencedColumn1, r.ReferencedColumn2
FROM (VALUES
    (N'Sales.SpecialOfferProduct_$(gs_form)', N'SpecialOffer', N'SpecialOfferID', NULL,
     N'Sales.SpecialOffer_$(gs_form)', N'SpecialOfferID', NULL),
    (N'Sales.SpecialOfferProduct_$(gs_form)', N'Product', N'ProductID', NULL,
     N'Production.Product_$(gs_form)', N'ProductID', NULL),
    (N'Sales.SalesOrderDetail_$(gs_form)', N'SalesOrderHeader', N'SalesOrderID', NULL,
     N'Sales.SalesOrderHeader_$(gs_form)', N'SalesOrderID', NULL),
    (N'Sales.SalesOrderDetail_$(gs_form)', N'SpecialOfferProduct', N'SpecialOfferID', N'ProductID',
     N'Sales.SpecialOfferProduct_$(gs_form)', N'SpecialOfferID', N'ProductID')
) AS r (ObjectName, RuleName, Column1, Column2, ReferencedObjectName, ReferencedColumn1, ReferencedColumn2);
PRINT N'filled dbo.ReferentialIntegrity for $(gs_form): ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rules';
GO

INSERT INTO dbo.UniqueIntegrity (ObjectName, RuleName, Columns)
SELECT r.ObjectName, r.RuleName, r.Columns
FROM (VALUES
    (N'Production.Product_$(gs_form)', N'Name', N'Name'),
    (N'Production.Product_$(gs_form)', N'ProductNumber', N'ProductNumber'),
    (N'Sales.SpecialOfferProduct_$(gs_form)', N'SpecialOfferProduct', N'SpecialOfferID, ProductID'),
    (N'Sales.SalesOrderDetail_$(gs_form)', N'SalesOrderDetail', N'SalesOrderID, SalesOrderDetailID')
) AS r (ObjectName, RuleName, Columns);
PRINT N'filled dbo.UniqueIntegrity for $(gs_form): ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rules';
GO
