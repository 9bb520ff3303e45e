-- gostress workload inmem-oltp, install, part ondisk: products, offers, seeds and the original orders.
IF NOT EXISTS (SELECT * FROM Production.Product_ondisk)
BEGIN
    SET IDENTITY_INSERT Production.Product_ondisk ON;
    INSERT INTO Production.Product_ondisk
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
    PRINT N'filled Production.Product_ondisk: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    SET IDENTITY_INSERT Production.Product_ondisk OFF;
END
GO

IF NOT EXISTS (SELECT * FROM Sales.SpecialOffer_ondisk)
BEGIN
    SET IDENTITY_INSERT Sales.SpecialOffer_ondisk ON;
    INSERT INTO Sales.SpecialOffer_ondisk
        (SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate)
    SELECT SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate
    FROM Demo.vOriginalSpecialOffer;
    PRINT N'filled Sales.SpecialOffer_ondisk: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    SET IDENTITY_INSERT Sales.SpecialOffer_ondisk OFF;
END
GO

IF NOT EXISTS (SELECT * FROM Sales.SpecialOfferProduct_ondisk)
BEGIN
    INSERT INTO Sales.SpecialOfferProduct_ondisk (SpecialOfferID, ProductID, ModifiedDate)
    SELECT SpecialOfferID, ProductID, ModifiedDate
    FROM Demo.vOriginalSpecialOfferProduct;
    PRINT N'filled Sales.SpecialOfferProduct_ondisk: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
END
GO

IF NOT EXISTS (SELECT * FROM Demo.DemoSalesOrderHeaderSeed)
BEGIN
    INSERT INTO Demo.DemoSalesOrderHeaderSeed
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
    INSERT INTO Demo.DemoSalesOrderDetailSeed (OrderQty, ProductID, SpecialOfferID, OrderID, LocalID)
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

IF NOT EXISTS (SELECT * FROM Sales.SalesOrderHeader_ondisk)
BEGIN
    EXEC Demo.usp_DemoReset_ondisk;
    PRINT N'filled Sales.SalesOrderHeader_ondisk and Sales.SalesOrderDetail_ondisk from the originals';
END
ELSE
    PRINT N'kept the orders of Sales.SalesOrderHeader_ondisk';
GO
