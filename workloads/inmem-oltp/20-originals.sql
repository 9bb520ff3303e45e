-- gostress workload inmem-oltp, install, part originals: the data every reset starts from.
--
-- 504 products, 16 special offers, 538 pairs of offer and product, 31,465 orders, 121,317 lines, the same
-- on every server: integer arithmetic over row numbers, no RAND, no NEWID, no clock.
-- A database that has the AdventureWorks tables keeps its own data: then the Demo.vOriginal* views read
-- those, and no Demo.Original* table is made. Everything else reads the views only.
IF OBJECT_ID(N'Sales.SalesOrderHeader', N'U') IS NOT NULL
    PRINT N'the originals are the AdventureWorks tables of this database';
ELSE IF OBJECT_ID(N'Demo.OriginalProduct', N'U') IS NULL
BEGIN
    CREATE TABLE Demo.OriginalProduct
    (
        ProductID int NOT NULL CONSTRAINT PK_OriginalProduct PRIMARY KEY CLUSTERED,
        Name nvarchar(50) NOT NULL,
        ProductNumber nvarchar(25) NOT NULL,
        MakeFlag bit NOT NULL,
        FinishedGoodsFlag bit NOT NULL,
        Color nvarchar(15) NULL,
        SafetyStockLevel smallint NOT NULL,
        ReorderPoint smallint NOT NULL,
        StandardCost money NOT NULL,
        ListPrice money NOT NULL,
        Size nvarchar(5) NULL,
        SizeUnitMeasureCode nchar(3) NULL,
        WeightUnitMeasureCode nchar(3) NULL,
        Weight decimal(8, 2) NULL,
        DaysToManufacture int NOT NULL,
        ProductLine nchar(2) NULL,
        Class nchar(2) NULL,
        Style nchar(2) NULL,
        ProductSubcategoryID int NULL,
        ProductModelID int NULL,
        SellStartDate datetime2(7) NOT NULL,
        SellEndDate datetime2(7) NULL,
        DiscontinuedDate datetime2(7) NULL,
        ModifiedDate datetime2(7) NOT NULL
    );
    PRINT N'created table Demo.OriginalProduct';
END
ELSE
    PRINT N'kept table Demo.OriginalProduct';
GO

IF OBJECT_ID(N'Demo.OriginalProduct', N'U') IS NOT NULL
BEGIN
    -- 24 finishes x 21 things = 504. Prices are whole cents from 12.49 to 908.70, so that quantity x price x
    -- (1 - discount) never needs more than the four decimals of money.
    IF NOT EXISTS (SELECT * FROM Demo.OriginalProduct)
    BEGIN
        INSERT INTO Demo.OriginalProduct
            (ProductID, Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint,
             StandardCost, ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture,
             ProductLine, Class, Style, ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate,
             DiscontinuedDate, ModifiedDate)
        SELECT
            p.ProductID,
            p.Finish + N' ' + p.Thing,
            N'GS-' + RIGHT(N'0000' + CONVERT(nvarchar(10), p.ProductID), 4),
            p.ProductID % 2,
            1,
            p.Finish,
            100 + (p.ProductID % 10) * 100,
            75 + (p.ProductID % 10) * 75,
            (p.Cents / 2) / 100.0,
            p.Cents / 100.0,
            CASE WHEN p.ProductID % 3 = 0 THEN CONVERT(nvarchar(5), 38 + p.ProductID % 30) ELSE NULL END,
            CASE WHEN p.ProductID % 3 = 0 THEN N'CM' ELSE NULL END,
            CASE WHEN p.ProductID % 4 = 0 THEN N'G' ELSE NULL END,
            CASE WHEN p.ProductID % 4 = 0 THEN 100 + p.ProductID ELSE NULL END,
            p.ProductID % 5,
            CASE p.ProductID % 4 WHEN 0 THEN N'M' WHEN 1 THEN N'R' WHEN 2 THEN N'S' ELSE N'T' END,
            CASE p.ProductID % 3 WHEN 0 THEN N'H' WHEN 1 THEN N'M' ELSE N'L' END,
            CASE p.ProductID % 3 WHEN 0 THEN N'U' WHEN 1 THEN N'M' ELSE N'W' END,
            p.ThingID,
            p.FinishID,
            CONVERT(datetime2(7), '2021-01-04T00:00:00'),
            CONVERT(datetime2(7), NULL),
            CONVERT(datetime2(7), NULL),
            CONVERT(datetime2(7), '2021-01-04T00:00:00')
        FROM
        (
            SELECT
                (f.FinishID - 1) * 21 + t.ThingID AS ProductID,
                995 + (((f.FinishID - 1) * 21 + t.ThingID) * 7919) % 90000 AS Cents,
                f.FinishID,
                f.Finish,
                t.ThingID,
                t.Thing
            FROM (VALUES
                (1, N'Amber'), (2, N'Azure'), (3, N'Black'), (4, N'Bronze'), (5, N'Copper'), (6, N'Coral'),
                (7, N'Crimson'), (8, N'Cyan'), (9, N'Emerald'), (10, N'Green'), (11, N'Grey'), (12, N'Indigo'),
                (13, N'Ivory'), (14, N'Jade'), (15, N'Khaki'), (16, N'Lilac'), (17, N'Magenta'), (18, N'Ochre'),
                (19, N'Olive'), (20, N'Orange'), (21, N'Red'), (22, N'Rose'), (23, N'Silver'), (24, N'Teal')
            ) AS f (FinishID, Finish)
            CROSS JOIN (VALUES
                (1, N'Anchor'), (2, N'Basket'), (3, N'Beacon'), (4, N'Bellows'), (5, N'Bracket'), (6, N'Candle'),
                (7, N'Compass'), (8, N'Cord'), (9, N'Funnel'), (10, N'Gauge'), (11, N'Hinge'), (12, N'Kettle'),
                (13, N'Ladder'), (14, N'Lantern'), (15, N'Mallet'), (16, N'Pulley'), (17, N'Ratchet'), (18, N'Spade'),
                (19, N'Trowel'), (20, N'Valve'), (21, N'Whistle')
            ) AS t (ThingID, Thing)
        ) AS p;
        PRINT N'filled Demo.OriginalProduct: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    END
END
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader', N'U') IS NULL
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSpecialOffer', N'U') IS NULL
    BEGIN
        CREATE TABLE Demo.OriginalSpecialOffer
        (
            SpecialOfferID int NOT NULL CONSTRAINT PK_OriginalSpecialOffer PRIMARY KEY CLUSTERED,
            Description nvarchar(255) NOT NULL,
            DiscountPct smallmoney NOT NULL,
            [Type] nvarchar(50) NOT NULL,
            Category nvarchar(50) NOT NULL,
            StartDate datetime2(7) NOT NULL,
            EndDate datetime2(7) NOT NULL,
            MinQty int NOT NULL,
            MaxQty int NULL,
            ModifiedDate datetime2(7) NOT NULL
        );
        PRINT N'created table Demo.OriginalSpecialOffer';
    END
    ELSE
        PRINT N'kept table Demo.OriginalSpecialOffer';
END
GO

IF OBJECT_ID(N'Demo.OriginalSpecialOffer', N'U') IS NOT NULL
BEGIN
    -- Discounts are fractions of whole per cents. Offer 1 is the list price.
    IF NOT EXISTS (SELECT * FROM Demo.OriginalSpecialOffer)
    BEGIN
        INSERT INTO Demo.OriginalSpecialOffer
            (SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate)
        SELECT
            o.SpecialOfferID,
            o.Description,
            o.Percents / 100.0,
            o.[Type],
            o.Category,
            CONVERT(datetime2(7), '2021-01-04T00:00:00'),
            CONVERT(datetime2(7), '2099-12-31T00:00:00'),
            0,
            NULL,
            CONVERT(datetime2(7), '2021-01-04T00:00:00')
        FROM (VALUES
            (1, N'List price', 0, N'List price', N'Everybody'),
            (2, N'Two per cent for paying at once', 2, N'Cash', N'Everybody'),
            (3, N'Welcome back', 5, N'Loyalty', N'Customer'),
            (4, N'Full pallet', 8, N'Quantity', N'Reseller'),
            (5, N'First order of the year', 10, N'Loyalty', N'Customer'),
            (6, N'Friday afternoon', 12, N'Season', N'Customer'),
            (7, N'Spring clearance', 15, N'Season', N'Customer'),
            (8, N'Autumn clearance', 18, N'Season', N'Customer'),
            (9, N'Trade fair', 20, N'Event', N'Reseller'),
            (10, N'Opening of a branch', 22, N'Event', N'Customer'),
            (11, N'Last year''s colours', 25, N'Remainder', N'Customer'),
            (12, N'Scratched box', 30, N'Remainder', N'Customer'),
            (13, N'Two for three', 33, N'Quantity', N'Customer'),
            (14, N'Showroom piece', 40, N'Remainder', N'Customer'),
            (15, N'Half price week', 50, N'Event', N'Customer'),
            (16, N'Staff', 60, N'Staff', N'Internal')
        ) AS o (SpecialOfferID, Description, Percents, [Type], Category);
        PRINT N'filled Demo.OriginalSpecialOffer: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    END
END
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader', N'U') IS NULL
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSpecialOfferProduct', N'U') IS NULL
    BEGIN
        CREATE TABLE Demo.OriginalSpecialOfferProduct
        (
            SpecialOfferID int NOT NULL,
            ProductID int NOT NULL,
            ModifiedDate datetime2(7) NOT NULL,
            CONSTRAINT PK_OriginalSpecialOfferProduct PRIMARY KEY CLUSTERED (SpecialOfferID, ProductID)
        );
        PRINT N'created table Demo.OriginalSpecialOfferProduct';
    END
    ELSE
        PRINT N'kept table Demo.OriginalSpecialOfferProduct';
END
GO

IF OBJECT_ID(N'Demo.OriginalSpecialOfferProduct', N'U') IS NOT NULL
BEGIN
    -- Pairs 0 to 267: offer 1 with products 1 to 268. Pairs 268 to 537: offers 2 to 16, eighteen products each,
    -- products 235 to 504. Together 538, and each product has an offer.
    IF NOT EXISTS (SELECT * FROM Demo.OriginalSpecialOfferProduct)
    BEGIN
        INSERT INTO Demo.OriginalSpecialOfferProduct (SpecialOfferID, ProductID, ModifiedDate)
        SELECT
            CASE WHEN n.Pair < 268 THEN 1 ELSE 2 + (n.Pair - 268) / 18 END,
            CASE WHEN n.Pair < 268 THEN n.Pair + 1 ELSE n.Pair - 33 END,
            CONVERT(datetime2(7), '2021-01-04T00:00:00')
        FROM
        (
            SELECT d2.d * 100 + d1.d * 10 + d0.d AS Pair
            FROM (VALUES (0), (1), (2), (3), (4), (5)) AS d2 (d)
            CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d1 (d)
            CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d0 (d)
        ) AS n
        WHERE n.Pair < 538;
        PRINT N'filled Demo.OriginalSpecialOfferProduct: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    END
END
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader', N'U') IS NULL
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSalesOrderDetail', N'U') IS NULL
    BEGIN
        CREATE TABLE Demo.OriginalSalesOrderDetail
        (
            SalesOrderID int NOT NULL,
            SalesOrderDetailID bigint NOT NULL,
            CarrierTrackingNumber nvarchar(25) NULL,
            OrderQty smallint NOT NULL,
            ProductID int NOT NULL,
            SpecialOfferID int NOT NULL,
            UnitPrice money NOT NULL,
            UnitPriceDiscount money NOT NULL,
            ModifiedDate datetime2(7) NOT NULL,
            CONSTRAINT PK_OriginalSalesOrderDetail PRIMARY KEY CLUSTERED (SalesOrderID, SalesOrderDetailID)
        );
        PRINT N'created table Demo.OriginalSalesOrderDetail';
    END
    ELSE
        PRINT N'kept table Demo.OriginalSalesOrderDetail';
END
GO

IF OBJECT_ID(N'Demo.OriginalSalesOrderDetail', N'U') IS NOT NULL
BEGIN
    -- Orders come in 4,495 blocks of seven, with 1, 2, 3, 4, 5, 6 and 6 lines; the seventh order of the first 48
    -- blocks has five: 4,495 x 27 - 48 = 121,317. Line ids have no gaps.
    -- An order takes pairs of offer and product 101 apart, so that no pair comes twice in it.
    IF NOT EXISTS (SELECT * FROM Demo.OriginalSalesOrderDetail)
    BEGIN
        INSERT INTO Demo.OriginalSalesOrderDetail
            (SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID,
             UnitPrice, UnitPriceDiscount, ModifiedDate)
        SELECT
            x.SalesOrderID,
            x.SalesOrderDetailID,
            CASE WHEN x.SalesOrderID % 8 = 0
                THEN N'GS-' + RIGHT(N'00000' + CONVERT(nvarchar(10), x.SalesOrderID), 5) + N'-TR' ELSE NULL END,
            1 + (x.SalesOrderID + x.Line * 3) % 5,
            x.ProductID,
            x.SpecialOfferID,
            p.ListPrice,
            o.DiscountPct,
            DATEADD(day, (x.SalesOrderID - 1) / 28, CONVERT(datetime2(7), '2021-01-04T00:00:00'))
        FROM
        (
            SELECT
                y.SalesOrderID,
                y.SalesOrderDetailID,
                y.Line,
                CASE WHEN y.Pair < 268 THEN 1 ELSE 2 + (y.Pair - 268) / 18 END AS SpecialOfferID,
                CASE WHEN y.Pair < 268 THEN y.Pair + 1 ELSE y.Pair - 33 END AS ProductID
            FROM
            (
                SELECT
                    n.Block * 7 + c.Place + 1 AS SalesOrderID,
                    n.Block * 27 - CASE WHEN n.Block < 48 THEN n.Block ELSE 48 END + c.LinesBefore + l.Line AS SalesOrderDetailID,
                    l.Line,
                    ((n.Block * 7 + c.Place + 1) * 53 + l.Line * 101) % 538 AS Pair
                FROM
                (
                    SELECT d3.d * 1000 + d2.d * 100 + d1.d * 10 + d0.d AS Block
                    FROM (VALUES (0), (1), (2), (3), (4)) AS d3 (d)
                    CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d2 (d)
                    CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d1 (d)
                    CROSS JOIN (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d0 (d)
                ) AS n
                CROSS JOIN (VALUES (0, 0, 1), (1, 1, 2), (2, 3, 3), (3, 6, 4), (4, 10, 5), (5, 15, 6), (6, 21, 6))
                    AS c (Place, LinesBefore, Lines)
                CROSS JOIN (VALUES (1), (2), (3), (4), (5), (6)) AS l (Line)
                WHERE n.Block < 4495
                  AND l.Line <= c.Lines - CASE WHEN c.Place = 6 AND n.Block < 48 THEN 1 ELSE 0 END
            ) AS y
        ) AS x
        INNER JOIN Demo.OriginalProduct AS p ON p.ProductID = x.ProductID
        INNER JOIN Demo.OriginalSpecialOffer AS o ON o.SpecialOfferID = x.SpecialOfferID;
        PRINT N'filled Demo.OriginalSalesOrderDetail: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    END
END
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader', N'U') IS NULL
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSalesOrderHeader', N'U') IS NULL
    BEGIN
        CREATE TABLE Demo.OriginalSalesOrderHeader
        (
            SalesOrderID int NOT NULL CONSTRAINT PK_OriginalSalesOrderHeader PRIMARY KEY CLUSTERED,
            RevisionNumber tinyint NOT NULL,
            OrderDate datetime2(7) NOT NULL,
            DueDate datetime2(7) NOT NULL,
            ShipDate datetime2(7) NULL,
            Status tinyint NOT NULL,
            OnlineOrderFlag bit NOT NULL,
            PurchaseOrderNumber nvarchar(25) NULL,
            AccountNumber nvarchar(15) NULL,
            CustomerID int NOT NULL,
            SalesPersonID int NULL,
            TerritoryID int NULL,
            BillToAddressID int NOT NULL,
            ShipToAddressID int NOT NULL,
            ShipMethodID int NOT NULL,
            CreditCardID int NULL,
            CreditCardApprovalCode varchar(15) NULL,
            CurrencyRateID int NULL,
            SubTotal money NOT NULL,
            TaxAmt money NOT NULL,
            Freight money NOT NULL,
            Comment nvarchar(128) NULL,
            ModifiedDate datetime2(7) NOT NULL
        );
        PRINT N'created table Demo.OriginalSalesOrderHeader';
    END
    ELSE
        PRINT N'kept table Demo.OriginalSalesOrderHeader';
END
GO

IF OBJECT_ID(N'Demo.OriginalSalesOrderHeader', N'U') IS NOT NULL
BEGIN
    -- One header for each order that has lines; every eighth came from a sales person, the others online.
    IF NOT EXISTS (SELECT * FROM Demo.OriginalSalesOrderHeader)
    BEGIN
        INSERT INTO Demo.OriginalSalesOrderHeader
            (SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
             AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID,
             CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate)
        SELECT
            d.SalesOrderID,
            1,
            DATEADD(day, (d.SalesOrderID - 1) / 28, CONVERT(datetime2(7), '2021-01-04T00:00:00')),
            DATEADD(day, (d.SalesOrderID - 1) / 28 + 12, CONVERT(datetime2(7), '2021-01-04T00:00:00')),
            DATEADD(day, (d.SalesOrderID - 1) / 28 + 7, CONVERT(datetime2(7), '2021-01-04T00:00:00')),
            5,
            CASE WHEN d.SalesOrderID % 8 = 0 THEN 0 ELSE 1 END,
            CASE WHEN d.SalesOrderID % 8 = 0 THEN N'PO' + CONVERT(nvarchar(10), 500000 + d.SalesOrderID * 13) ELSE NULL END,
            N'AC-' + RIGHT(N'00000' + CONVERT(nvarchar(10), (d.SalesOrderID * 7) % 8000), 5),
            (d.SalesOrderID * 7) % 8000,
            CASE WHEN d.SalesOrderID % 8 = 0 THEN 270 + (d.SalesOrderID / 8) % 17 ELSE NULL END,
            1 + d.SalesOrderID % 10,
            (d.SalesOrderID * 11) % 10000,
            (d.SalesOrderID * 13) % 10000,
            1 + d.SalesOrderID % 5,
            CASE WHEN d.SalesOrderID % 8 = 0 THEN NULL ELSE 1 + (d.SalesOrderID * 3) % 19000 END,
            CASE WHEN d.SalesOrderID % 8 = 0 THEN NULL ELSE CONVERT(varchar(15), 100000 + d.SalesOrderID * 17) END,
            NULL,
            d.SubTotal,
            ROUND(d.SubTotal * 0.08, 2),
            ROUND(d.SubTotal * 0.025, 2),
            NULL,
            DATEADD(day, (d.SalesOrderID - 1) / 28 + 7, CONVERT(datetime2(7), '2021-01-04T00:00:00'))
        FROM
        (
            SELECT SalesOrderID, SUM(ROUND(OrderQty * UnitPrice * (1 - UnitPriceDiscount), 4)) AS SubTotal
            FROM Demo.OriginalSalesOrderDetail
            GROUP BY SalesOrderID
        ) AS d;
        PRINT N'filled Demo.OriginalSalesOrderHeader: ' + CONVERT(nvarchar(20), @@ROWCOUNT) + N' rows';
    END
END
GO

-- The views that everything else reads, over our tables or over those of AdventureWorks.
IF OBJECT_ID(N'Demo.vOriginalProduct', N'V') IS NOT NULL
    PRINT N'kept view Demo.vOriginalProduct';
ELSE
BEGIN
    IF OBJECT_ID(N'Demo.OriginalProduct', N'U') IS NOT NULL
        EXEC (N'CREATE VIEW Demo.vOriginalProduct AS
SELECT ProductID, Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint, StandardCost,
    ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture, ProductLine, Class, Style,
    ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate, DiscontinuedDate, ModifiedDate
FROM Demo.OriginalProduct;');
    ELSE
        EXEC (N'CREATE VIEW Demo.vOriginalProduct AS
SELECT ProductID, Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint, StandardCost,
    ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture, ProductLine, Class, Style,
    ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate, DiscontinuedDate, ModifiedDate
FROM Production.Product;');
    PRINT N'created view Demo.vOriginalProduct';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSpecialOffer', N'V') IS NOT NULL
    PRINT N'kept view Demo.vOriginalSpecialOffer';
ELSE
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSpecialOffer', N'U') IS NOT NULL
        EXEC (N'CREATE VIEW Demo.vOriginalSpecialOffer AS
SELECT SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate
FROM Demo.OriginalSpecialOffer;');
    ELSE
        EXEC (N'CREATE VIEW Demo.vOriginalSpecialOffer AS
SELECT SpecialOfferID, Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate
FROM Sales.SpecialOffer;');
    PRINT N'created view Demo.vOriginalSpecialOffer';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSpecialOfferProduct', N'V') IS NOT NULL
    PRINT N'kept view Demo.vOriginalSpecialOfferProduct';
ELSE
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSpecialOfferProduct', N'U') IS NOT NULL
        EXEC (N'CREATE VIEW Demo.vOriginalSpecialOfferProduct AS
SELECT SpecialOfferID, ProductID, ModifiedDate
FROM Demo.OriginalSpecialOfferProduct;');
    ELSE
        EXEC (N'CREATE VIEW Demo.vOriginalSpecialOfferProduct AS
SELECT SpecialOfferID, ProductID, ModifiedDate
FROM Sales.SpecialOfferProduct;');
    PRINT N'created view Demo.vOriginalSpecialOfferProduct';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSalesOrderHeader', N'V') IS NOT NULL
    PRINT N'kept view Demo.vOriginalSalesOrderHeader';
ELSE
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSalesOrderHeader', N'U') IS NOT NULL
        EXEC (N'CREATE VIEW Demo.vOriginalSalesOrderHeader AS
SELECT SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
    AccountNumber, CustomerID, ISNULL(SalesPersonID, -1) AS SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID,
    ShipMethodID, CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate
FROM Demo.OriginalSalesOrderHeader;');
    ELSE
        EXEC (N'CREATE VIEW Demo.vOriginalSalesOrderHeader AS
SELECT SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
    AccountNumber, CustomerID, ISNULL(SalesPersonID, -1) AS SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID,
    ShipMethodID, CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate
FROM Sales.SalesOrderHeader;');
    PRINT N'created view Demo.vOriginalSalesOrderHeader';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSalesOrderDetail', N'V') IS NOT NULL
    PRINT N'kept view Demo.vOriginalSalesOrderDetail';
ELSE
BEGIN
    IF OBJECT_ID(N'Demo.OriginalSalesOrderDetail', N'U') IS NOT NULL
        EXEC (N'CREATE VIEW Demo.vOriginalSalesOrderDetail AS
SELECT SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
    UnitPriceDiscount, ModifiedDate
FROM Demo.OriginalSalesOrderDetail;');
    ELSE
        EXEC (N'CREATE VIEW Demo.vOriginalSalesOrderDetail AS
SELECT SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
    UnitPriceDiscount, ModifiedDate
FROM Sales.SalesOrderDetail;');
    PRINT N'created view Demo.vOriginalSalesOrderDetail';
END
GO
