-- gostress workload inmem-oltp, install, part inmem: the memory-optimized tables, the order type and the views.
--
-- Bucket counts, which the server rounds up to powers of two of 8 bytes each:
--   $(gs_order_buckets)  one for each order expected (10,000,000 for the full run)
--   $(gs_line_buckets)   one for each order line expected, five an order
--   $(gs_key_buckets)    sales persons, customers, products and offers (1,000,000 for the full run)
IF OBJECT_ID(N'Production.Product_inmem', N'U') IS NULL
BEGIN
    CREATE TABLE Production.Product_inmem
    (
        ProductID int IDENTITY(1, 1) NOT NULL
            CONSTRAINT PK_Product_inmem PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = $(gs_key_buckets)),
        Name nvarchar(50) NOT NULL,
        ProductNumber nvarchar(25) NOT NULL,
        MakeFlag bit NOT NULL CONSTRAINT DF_Product_inmem_MakeFlag DEFAULT (1),
        FinishedGoodsFlag bit NOT NULL CONSTRAINT DF_Product_inmem_FinishedGoodsFlag DEFAULT (1),
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
        ModifiedDate datetime2(7) NOT NULL CONSTRAINT DF_Product_inmem_ModifiedDate DEFAULT (SYSDATETIME()),
        INDEX IX_Product_inmem_Name NONCLUSTERED (Name),
        INDEX IX_Product_inmem_ProductNumber NONCLUSTERED (ProductNumber)
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Production.Product_inmem';
END
ELSE
    PRINT N'kept table Production.Product_inmem';
GO

IF OBJECT_ID(N'Sales.SpecialOffer_inmem', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SpecialOffer_inmem
    (
        SpecialOfferID int IDENTITY(1, 1) NOT NULL
            CONSTRAINT PK_SpecialOffer_inmem PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = $(gs_key_buckets)),
        Description nvarchar(255) NOT NULL,
        DiscountPct smallmoney NOT NULL CONSTRAINT DF_SpecialOffer_inmem_DiscountPct DEFAULT (0),
        [Type] nvarchar(50) NOT NULL,
        Category nvarchar(50) NOT NULL,
        StartDate datetime2(7) NOT NULL,
        EndDate datetime2(7) NOT NULL,
        MinQty int NOT NULL CONSTRAINT DF_SpecialOffer_inmem_MinQty DEFAULT (0),
        MaxQty int NULL,
        ModifiedDate datetime2(7) NOT NULL CONSTRAINT DF_SpecialOffer_inmem_ModifiedDate DEFAULT (SYSDATETIME())
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Sales.SpecialOffer_inmem';
END
ELSE
    PRINT N'kept table Sales.SpecialOffer_inmem';
GO

IF OBJECT_ID(N'Sales.SpecialOfferProduct_inmem', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SpecialOfferProduct_inmem
    (
        SpecialOfferID int NOT NULL,
        ProductID int NOT NULL,
        ModifiedDate datetime2(7) NOT NULL CONSTRAINT DF_SpecialOfferProduct_inmem_ModifiedDate DEFAULT (SYSDATETIME()),
        CONSTRAINT PK_SpecialOfferProduct_inmem PRIMARY KEY NONCLUSTERED (SpecialOfferID, ProductID),
        CONSTRAINT FK_SpecialOfferProduct_inmem_SpecialOffer FOREIGN KEY (SpecialOfferID)
            REFERENCES Sales.SpecialOffer_inmem (SpecialOfferID),
        CONSTRAINT FK_SpecialOfferProduct_inmem_Product FOREIGN KEY (ProductID)
            REFERENCES Production.Product_inmem (ProductID),
        INDEX IX_SpecialOfferProduct_inmem_ProductID NONCLUSTERED (ProductID)
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Sales.SpecialOfferProduct_inmem';
END
ELSE
    PRINT N'kept table Sales.SpecialOfferProduct_inmem';
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader_inmem', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SalesOrderHeader_inmem
    (
        SalesOrderID int IDENTITY(1, 1) NOT NULL
            CONSTRAINT PK_SalesOrderHeader_inmem PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = $(gs_order_buckets)),
        RevisionNumber tinyint NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_RevisionNumber DEFAULT (0),
        OrderDate datetime2(7) NOT NULL,
        DueDate datetime2(7) NOT NULL,
        ShipDate datetime2(7) NULL,
        Status tinyint NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_Status DEFAULT (1),
        OnlineOrderFlag bit NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_OnlineOrderFlag DEFAULT (1),
        PurchaseOrderNumber nvarchar(25) NULL,
        AccountNumber nvarchar(15) NULL,
        CustomerID int NOT NULL,
        SalesPersonID int NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_SalesPersonID DEFAULT (-1),
        TerritoryID int NULL,
        BillToAddressID int NOT NULL,
        ShipToAddressID int NOT NULL,
        ShipMethodID int NOT NULL,
        CreditCardID int NULL,
        CreditCardApprovalCode varchar(15) NULL,
        CurrencyRateID int NULL,
        SubTotal money NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_SubTotal DEFAULT (0),
        TaxAmt money NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_TaxAmt DEFAULT (0),
        Freight money NOT NULL CONSTRAINT DF_SalesOrderHeader_inmem_Freight DEFAULT (0),
        Comment nvarchar(128) NULL,
        ModifiedDate datetime2(7) NOT NULL,
        INDEX IX_SalesOrderHeader_inmem_SalesPersonID NONCLUSTERED HASH (SalesPersonID)
            WITH (BUCKET_COUNT = $(gs_key_buckets)),
        INDEX IX_SalesOrderHeader_inmem_CustomerID NONCLUSTERED HASH (CustomerID)
            WITH (BUCKET_COUNT = $(gs_key_buckets))
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Sales.SalesOrderHeader_inmem';
END
ELSE
    PRINT N'kept table Sales.SalesOrderHeader_inmem';
GO

IF OBJECT_ID(N'Sales.SalesOrderDetail_inmem', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SalesOrderDetail_inmem
    (
        SalesOrderID int NOT NULL,
        SalesOrderDetailID bigint IDENTITY(1, 1) NOT NULL,
        CarrierTrackingNumber nvarchar(25) NULL,
        OrderQty smallint NOT NULL,
        ProductID int NOT NULL,
        SpecialOfferID int NOT NULL,
        UnitPrice money NOT NULL,
        UnitPriceDiscount money NOT NULL CONSTRAINT DF_SalesOrderDetail_inmem_UnitPriceDiscount DEFAULT (0),
        ModifiedDate datetime2(7) NOT NULL,
        CONSTRAINT PK_SalesOrderDetail_inmem PRIMARY KEY NONCLUSTERED HASH (SalesOrderID, SalesOrderDetailID)
            WITH (BUCKET_COUNT = $(gs_line_buckets)),
        INDEX IX_SalesOrderDetail_inmem_SalesOrderID NONCLUSTERED HASH (SalesOrderID)
            WITH (BUCKET_COUNT = $(gs_order_buckets)),
        INDEX IX_SalesOrderDetail_inmem_ProductID NONCLUSTERED HASH (ProductID)
            WITH (BUCKET_COUNT = $(gs_key_buckets))
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Sales.SalesOrderDetail_inmem';
END
ELSE
    PRINT N'kept table Sales.SalesOrderDetail_inmem';
GO

IF TYPE_ID(N'Sales.SalesOrderDetailType_inmem') IS NULL
BEGIN
    CREATE TYPE Sales.SalesOrderDetailType_inmem AS TABLE
    (
        OrderQty smallint NOT NULL,
        ProductID int NOT NULL,
        SpecialOfferID int NOT NULL,
        INDEX IX_ProductID NONCLUSTERED HASH (ProductID) WITH (BUCKET_COUNT = 8),
        INDEX IX_SpecialOfferID NONCLUSTERED HASH (SpecialOfferID) WITH (BUCKET_COUNT = 8)
    )
    WITH (MEMORY_OPTIMIZED = ON);
    PRINT N'created type Sales.SalesOrderDetailType_inmem';
END
ELSE
    PRINT N'kept type Sales.SalesOrderDetailType_inmem';
GO

-- The seeds are memory-optimized where that is possible; disk-based ones of an install of the
-- ondisk part alone give way.
IF EXISTS (SELECT * FROM sys.tables WHERE object_id = OBJECT_ID(N'Demo.DemoSalesOrderHeaderSeed', N'U') AND is_memory_optimized = 0)
BEGIN
    DROP TABLE Demo.DemoSalesOrderHeaderSeed;
    PRINT N'replacing disk-based table Demo.DemoSalesOrderHeaderSeed';
END
GO

IF OBJECT_ID(N'Demo.DemoSalesOrderHeaderSeed', N'U') IS NULL
BEGIN
    CREATE TABLE Demo.DemoSalesOrderHeaderSeed
    (
        DueDate datetime2(7) NOT NULL,
        CustomerID int NOT NULL,
        SalesPersonID int NOT NULL,
        BillToAddressID int NOT NULL,
        ShipToAddressID int NOT NULL,
        ShipMethodID int NOT NULL,
        LocalID int NOT NULL
            CONSTRAINT PK_DemoSalesOrderHeaderSeed PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 65536)
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Demo.DemoSalesOrderHeaderSeed';
END
ELSE
    PRINT N'kept table Demo.DemoSalesOrderHeaderSeed';
GO

IF EXISTS (SELECT * FROM sys.tables WHERE object_id = OBJECT_ID(N'Demo.DemoSalesOrderDetailSeed', N'U') AND is_memory_optimized = 0)
BEGIN
    DROP TABLE Demo.DemoSalesOrderDetailSeed;
    PRINT N'replacing disk-based table Demo.DemoSalesOrderDetailSeed';
END
GO

IF OBJECT_ID(N'Demo.DemoSalesOrderDetailSeed', N'U') IS NULL
BEGIN
    CREATE TABLE Demo.DemoSalesOrderDetailSeed
    (
        OrderQty smallint NOT NULL,
        ProductID int NOT NULL,
        SpecialOfferID int NOT NULL,
        OrderID int NOT NULL,
        LocalID int NOT NULL
            CONSTRAINT PK_DemoSalesOrderDetailSeed PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1024),
        INDEX IX_DemoSalesOrderDetailSeed_OrderID NONCLUSTERED HASH (OrderID) WITH (BUCKET_COUNT = 256)
    )
    WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
    PRINT N'created table Demo.DemoSalesOrderDetailSeed';
END
ELSE
    PRINT N'kept table Demo.DemoSalesOrderDetailSeed';
GO

IF OBJECT_ID(N'Sales.vSalesOrderHeader_extended_inmem', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderHeader_extended_inmem;
    PRINT N'replacing view Sales.vSalesOrderHeader_extended_inmem';
END
ELSE
    PRINT N'creating view Sales.vSalesOrderHeader_extended_inmem';
GO

CREATE VIEW Sales.vSalesOrderHeader_extended_inmem
AS
SELECT
    SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag,
    N'SO' + CONVERT(nvarchar(23), SalesOrderID) AS SalesOrderNumber,
    PurchaseOrderNumber, AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID,
    ShipMethodID, CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight,
    SubTotal + TaxAmt + Freight AS TotalDue,
    Comment, ModifiedDate
FROM Sales.SalesOrderHeader_inmem;
GO

IF OBJECT_ID(N'Sales.vSalesOrderDetail_extended_inmem', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderDetail_extended_inmem;
    PRINT N'replacing view Sales.vSalesOrderDetail_extended_inmem';
END
ELSE
    PRINT N'creating view Sales.vSalesOrderDetail_extended_inmem';
GO

CREATE VIEW Sales.vSalesOrderDetail_extended_inmem
AS
SELECT
    SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
    UnitPriceDiscount,
    ROUND(OrderQty * UnitPrice * (1 - UnitPriceDiscount), 4) AS LineTotal,
    ModifiedDate
FROM Sales.SalesOrderDetail_inmem;
GO
