-- gostress workload inmem-oltp, install, part ondisk: the disk-based tables, the order type and the views.
--
-- No foreign key or check stands on the two order tables, in either form: they are the hot ones, and
-- dbo.usp_ValidateIntegrity tests them instead.
IF OBJECT_ID(N'Production.Product_ondisk', N'U') IS NULL
BEGIN
    CREATE TABLE Production.Product_ondisk
    (
        ProductID int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_Product_ondisk PRIMARY KEY CLUSTERED,
        Name nvarchar(50) NOT NULL,
        ProductNumber nvarchar(25) NOT NULL,
        MakeFlag bit NOT NULL CONSTRAINT DF_Product_ondisk_MakeFlag DEFAULT (1),
        FinishedGoodsFlag bit NOT NULL CONSTRAINT DF_Product_ondisk_FinishedGoodsFlag DEFAULT (1),
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
        ModifiedDate datetime2(7) NOT NULL CONSTRAINT DF_Product_ondisk_ModifiedDate DEFAULT (SYSDATETIME()),
        INDEX IX_Product_ondisk_Name NONCLUSTERED (Name),
        INDEX IX_Product_ondisk_ProductNumber NONCLUSTERED (ProductNumber)
    );
    PRINT N'created table Production.Product_ondisk';
END
ELSE
    PRINT N'kept table Production.Product_ondisk';
GO

IF OBJECT_ID(N'Sales.SpecialOffer_ondisk', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SpecialOffer_ondisk
    (
        SpecialOfferID int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_SpecialOffer_ondisk PRIMARY KEY CLUSTERED,
        Description nvarchar(255) NOT NULL,
        DiscountPct smallmoney NOT NULL CONSTRAINT DF_SpecialOffer_ondisk_DiscountPct DEFAULT (0),
        [Type] nvarchar(50) NOT NULL,
        Category nvarchar(50) NOT NULL,
        StartDate datetime2(7) NOT NULL,
        EndDate datetime2(7) NOT NULL,
        MinQty int NOT NULL CONSTRAINT DF_SpecialOffer_ondisk_MinQty DEFAULT (0),
        MaxQty int NULL,
        ModifiedDate datetime2(7) NOT NULL CONSTRAINT DF_SpecialOffer_ondisk_ModifiedDate DEFAULT (SYSDATETIME())
    );
    PRINT N'created table Sales.SpecialOffer_ondisk';
END
ELSE
    PRINT N'kept table Sales.SpecialOffer_ondisk';
GO

IF OBJECT_ID(N'Sales.SpecialOfferProduct_ondisk', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SpecialOfferProduct_ondisk
    (
        SpecialOfferID int NOT NULL,
        ProductID int NOT NULL,
        ModifiedDate datetime2(7) NOT NULL CONSTRAINT DF_SpecialOfferProduct_ondisk_ModifiedDate DEFAULT (SYSDATETIME()),
        CONSTRAINT PK_SpecialOfferProduct_ondisk PRIMARY KEY CLUSTERED (SpecialOfferID, ProductID),
        CONSTRAINT FK_SpecialOfferProduct_ondisk_SpecialOffer FOREIGN KEY (SpecialOfferID)
            REFERENCES Sales.SpecialOffer_ondisk (SpecialOfferID),
        CONSTRAINT FK_SpecialOfferProduct_ondisk_Product FOREIGN KEY (ProductID)
            REFERENCES Production.Product_ondisk (ProductID),
        INDEX IX_SpecialOfferProduct_ondisk_ProductID NONCLUSTERED (ProductID)
    );
    PRINT N'created table Sales.SpecialOfferProduct_ondisk';
END
ELSE
    PRINT N'kept table Sales.SpecialOfferProduct_ondisk';
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader_ondisk', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SalesOrderHeader_ondisk
    (
        SalesOrderID int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_SalesOrderHeader_ondisk PRIMARY KEY CLUSTERED,
        RevisionNumber tinyint NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_RevisionNumber DEFAULT (0),
        OrderDate datetime2(7) NOT NULL,
        DueDate datetime2(7) NOT NULL,
        ShipDate datetime2(7) NULL,
        Status tinyint NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_Status DEFAULT (1),
        OnlineOrderFlag bit NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_OnlineOrderFlag DEFAULT (1),
        PurchaseOrderNumber nvarchar(25) NULL,
        AccountNumber nvarchar(15) NULL,
        CustomerID int NOT NULL,
        SalesPersonID int NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_SalesPersonID DEFAULT (-1),
        TerritoryID int NULL,
        BillToAddressID int NOT NULL,
        ShipToAddressID int NOT NULL,
        ShipMethodID int NOT NULL,
        CreditCardID int NULL,
        CreditCardApprovalCode varchar(15) NULL,
        CurrencyRateID int NULL,
        SubTotal money NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_SubTotal DEFAULT (0),
        TaxAmt money NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_TaxAmt DEFAULT (0),
        Freight money NOT NULL CONSTRAINT DF_SalesOrderHeader_ondisk_Freight DEFAULT (0),
        Comment nvarchar(128) NULL,
        ModifiedDate datetime2(7) NOT NULL,
        INDEX IX_SalesOrderHeader_ondisk_SalesPersonID NONCLUSTERED (SalesPersonID),
        INDEX IX_SalesOrderHeader_ondisk_CustomerID NONCLUSTERED (CustomerID)
    );
    PRINT N'created table Sales.SalesOrderHeader_ondisk';
END
ELSE
    PRINT N'kept table Sales.SalesOrderHeader_ondisk';
GO

IF OBJECT_ID(N'Sales.SalesOrderDetail_ondisk', N'U') IS NULL
BEGIN
    CREATE TABLE Sales.SalesOrderDetail_ondisk
    (
        SalesOrderID int NOT NULL,
        SalesOrderDetailID bigint IDENTITY(1, 1) NOT NULL,
        CarrierTrackingNumber nvarchar(25) NULL,
        OrderQty smallint NOT NULL,
        ProductID int NOT NULL,
        SpecialOfferID int NOT NULL,
        UnitPrice money NOT NULL,
        UnitPriceDiscount money NOT NULL CONSTRAINT DF_SalesOrderDetail_ondisk_UnitPriceDiscount DEFAULT (0),
        ModifiedDate datetime2(7) NOT NULL,
        CONSTRAINT PK_SalesOrderDetail_ondisk PRIMARY KEY CLUSTERED (SalesOrderID, SalesOrderDetailID),
        INDEX IX_SalesOrderDetail_ondisk_ProductID NONCLUSTERED (ProductID)
    );
    PRINT N'created table Sales.SalesOrderDetail_ondisk';
END
ELSE
    PRINT N'kept table Sales.SalesOrderDetail_ondisk';
GO

IF TYPE_ID(N'Sales.SalesOrderDetailType_ondisk') IS NULL
BEGIN
    CREATE TYPE Sales.SalesOrderDetailType_ondisk AS TABLE
    (
        OrderQty smallint NOT NULL,
        ProductID int NOT NULL,
        SpecialOfferID int NOT NULL,
        INDEX IX_ProductID CLUSTERED (ProductID),
        INDEX IX_SpecialOfferID NONCLUSTERED (SpecialOfferID)
    );
    PRINT N'created type Sales.SalesOrderDetailType_ondisk';
END
ELSE
    PRINT N'kept type Sales.SalesOrderDetailType_ondisk';
GO

-- The seeds the workload builds its orders from. The inmem part makes them memory-optimized, where it comes
-- first; where it comes later, it puts its own in the place of these.
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
        LocalID int NOT NULL CONSTRAINT PK_DemoSalesOrderHeaderSeed PRIMARY KEY CLUSTERED
    );
    PRINT N'created table Demo.DemoSalesOrderHeaderSeed';
END
ELSE
    PRINT N'kept table Demo.DemoSalesOrderHeaderSeed';
GO

IF OBJECT_ID(N'Demo.DemoSalesOrderDetailSeed', N'U') IS NULL
BEGIN
    CREATE TABLE Demo.DemoSalesOrderDetailSeed
    (
        OrderQty smallint NOT NULL,
        ProductID int NOT NULL,
        SpecialOfferID int NOT NULL,
        OrderID int NOT NULL,
        LocalID int NOT NULL CONSTRAINT PK_DemoSalesOrderDetailSeed PRIMARY KEY NONCLUSTERED,
        INDEX IX_DemoSalesOrderDetailSeed_OrderID CLUSTERED (OrderID)
    );
    PRINT N'created table Demo.DemoSalesOrderDetailSeed';
END
ELSE
    PRINT N'kept table Demo.DemoSalesOrderDetailSeed';
GO

IF OBJECT_ID(N'Sales.vSalesOrderHeader_extended_ondisk', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderHeader_extended_ondisk;
    PRINT N'replacing view Sales.vSalesOrderHeader_extended_ondisk';
END
ELSE
    PRINT N'creating view Sales.vSalesOrderHeader_extended_ondisk';
GO

CREATE VIEW Sales.vSalesOrderHeader_extended_ondisk
AS
SELECT
    SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag,
    N'SO' + CONVERT(nvarchar(23), SalesOrderID) AS SalesOrderNumber,
    PurchaseOrderNumber, AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID,
    ShipMethodID, CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight,
    SubTotal + TaxAmt + Freight AS TotalDue,
    Comment, ModifiedDate
FROM Sales.SalesOrderHeader_ondisk;
GO

IF OBJECT_ID(N'Sales.vSalesOrderDetail_extended_ondisk', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderDetail_extended_ondisk;
    PRINT N'replacing view Sales.vSalesOrderDetail_extended_ondisk';
END
ELSE
    PRINT N'creating view Sales.vSalesOrderDetail_extended_ondisk';
GO

CREATE VIEW Sales.vSalesOrderDetail_extended_ondisk
AS
SELECT
    SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
    UnitPriceDiscount,
    ROUND(OrderQty * UnitPrice * (1 - UnitPriceDiscount), 4) AS LineTotal,
    ModifiedDate
FROM Sales.SalesOrderDetail_ondisk;
GO
