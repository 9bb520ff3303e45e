-- gostress workload inmem-oltp, install, part inmem: products, offers, seeds and the original orders.
IF NOT EXISTS (SELECT * FROM Production.Product_inmem)
BEGIN
    SET IDENTITY_INSERT Production.Product_inmem ON;
    INSERT INTO Production.Product_inmem WITH (SNAPSHOT)
        (ProductID, Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint,
         StandardCost, ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture,
         ProductLine, Class, Style, ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate,
         DiscontinuedDate, ModifiedDate)
    SELECT
        ProductID, Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint,
        StandardCost, ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture,
        ProductLine, Class, Style, ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate,
        DiscontinuedDate, ModifiedDate
    FROM Demo.vOriginalProduct;
    PRINT N'filled Production.Product_inmem: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    SET IDENTITY_INSERT Production.Product_inmem OFF;
END
GO

IF NOT EXISTS (SELECT * FROM Sales.SpecialOffer_inmem)
BEGIN
    SET IDENTITY_INSERT Sales.SpecialOffer_inmem ON;
    INSERT INTO Sales.SpecialOffer_inmem WITH (SNAPSHOT)
        (SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate)
    SELECT SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate
    FROM Demo.vOriginalSpecialOffer;
    PRINT N'filled Sales.SpecialOffer_inmem: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    SET IDENTITY_INSERT Sales.SpecialOffer_inmem OFF;
END
GO

IF NOT EXISTS (SELECT * FROM Sales.SpecialOfferProduct_inmem)
BEGIN
    INSERT INTO Sales.SpecialOfferProduct_inmem WITH (SNAPSHOT) (SpecialOfferID, ProductID, ModifiedDate)
    SELECT SpecialOfferID, ProductID, ModifiedDate
    FROM Demo.vOriginalSpecialOfferProduct;
    PRINT N'filled Sales.SpecialOfferProduct_inmem: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
END
GO

IF NOT EXISTS (SELECT * FROM Demo.DemoSalesOrderHeaderSeed)
BEGIN
    INSERT INTO Demo.DemoSalesOrderHeaderSeed WITH (SNAPSHOT)
        (DueDate, CustomerID, SalesPersonID, BillToAddressID, ShipToAddressID, ShipMethodID, LocalID)
    SELECT
        h.DueDate, h.CustomerID, h.SalesPersonID, h.BillToAddressID, h.ShipToAddressID, h.ShipMethodID,
        ROW_NUMBER() OVER (ORDER BY h.SalesOrderID)
    FROM Demo.vOriginalSalesOrderHeader AS h;
    PRINT N'filled Demo.DemoSalesOrderHeaderSeed: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
END
GO

-- Orders 1 to 106 with five lines each, from the pairs of offer and product that exist. 197 and 538 have no
-- common divisor, so the pairs come in another order and none comes twice: an order mixes offers.
IF NOT EXISTS (SELECT * FROM Demo.DemoSalesOrderDetailSeed)
BEGIN
    INSERT INTO Demo.DemoSalesOrderDetailSeed WITH (SNAPSHOT) (OrderQty, ProductID, SpecialOfferID, OrderID, LocalID)
    SELECT
        1 + q.Place % 4,
        q.ProductID,
        q.SpecialOfferID,
        1 + q.Place / 5,
        1 + q.Place
    FROM
    (
        SELECT p.SpecialOfferID, p.ProductID, ((p.Number - 1) * 197) % 538 AS Place
        FROM
        (
            SELECT SpecialOfferID, ProductID, ROW_NUMBER() OVER (ORDER BY SpecialOfferID, ProductID) AS Number
            FROM Demo.vOriginalSpecialOfferProduct
        ) AS p
        WHERE p.Number <= 538
    ) AS q
    WHERE q.Place < 530;
    PRINT N'filled Demo.DemoSalesOrderDetailSeed: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
END
GO

IF NOT EXISTS (SELECT * FROM Sales.SalesOrderHeader_inmem)
BEGIN
    EXEC Demo.usp_DemoReset_inmem;
    PRINT N'filled Sales.SalesOrderHeader_inmem and Sales.SalesOrderDetail_inmem from the originals';
END
ELSE
    PRINT N'kept the orders of Sales.SalesOrderHeader_inmem';
GO
