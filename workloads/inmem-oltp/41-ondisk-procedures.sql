-- gostress workload inmem-oltp, install, part ondisk: the procedures. Code is replaced, so that a newer
-- gostress brings its own.
IF OBJECT_ID(N'Sales.usp_InsertSalesOrder_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSalesOrder_ondisk;
    PRINT N'replacing procedure Sales.usp_InsertSalesOrder_ondisk';
END
ELSE
    PRINT N'creating procedure Sales.usp_InsertSalesOrder_ondisk';
GO

-- Inserts one order with its lines in one transaction. The clock is read once, for every date of the order.
-- SubTotal = sum of ROUND(OrderQty * list price * (1 - discount of the offer), 4).
CREATE PROCEDURE Sales.usp_InsertSalesOrder_ondisk
    @SalesOrderID int OUTPUT,
    @DueDate datetime2(7),
    @CustomerID int,
    @BillToAddressID int,
    @ShipToAddressID int,
    @ShipMethodID int,
    @SalesOrderDetails Sales.SalesOrderDetailType_ondisk READONLY,
    @Status tinyint = 1,
    @OnlineOrderFlag bit = 1,
    @PurchaseOrderNumber nvarchar(25) = NULL,
    @AccountNumber nvarchar(15) = NULL,
    @SalesPersonID int = -1,
    @TerritoryID int = NULL,
    @CreditCardID int = NULL,
    @CreditCardApprovalCode varchar(15) = NULL,
    @CurrencyRateID int = NULL,
    @Comment nvarchar(128) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Now datetime2(7) = SYSDATETIME();
    DECLARE @SubTotal money = 0;
    DECLARE @NotShipped nvarchar(25) = NULL;

    BEGIN TRANSACTION;

    SELECT @SubTotal = ISNULL(SUM(ROUND(od.OrderQty * p.ListPrice * (1 - so.DiscountPct), 4)), 0)
    FROM @SalesOrderDetails AS od
    INNER JOIN Sales.SpecialOffer_ondisk AS so ON so.SpecialOfferID = od.SpecialOfferID
    INNER JOIN Production.Product_ondisk AS p ON p.ProductID = od.ProductID;

    INSERT INTO Sales.SalesOrderHeader_ondisk
        (RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber, AccountNumber,
         CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID, CreditCardID,
         CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate)
    VALUES
        (1, @Now, @DueDate, NULL, @Status, @OnlineOrderFlag, @PurchaseOrderNumber, @AccountNumber,
         @CustomerID, @SalesPersonID, @TerritoryID, @BillToAddressID, @ShipToAddressID, @ShipMethodID, @CreditCardID,
         @CreditCardApprovalCode, @CurrencyRateID, @SubTotal, 0, 0, @Comment, @Now);

    SET @SalesOrderID = SCOPE_IDENTITY();

    INSERT INTO Sales.SalesOrderDetail_ondisk
        (SalesOrderID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice, UnitPriceDiscount,
         ModifiedDate)
    SELECT @SalesOrderID, @NotShipped, od.OrderQty, od.ProductID, od.SpecialOfferID, p.ListPrice, so.DiscountPct, @Now
    FROM @SalesOrderDetails AS od
    INNER JOIN Sales.SpecialOffer_ondisk AS so ON so.SpecialOfferID = od.SpecialOfferID
    INNER JOIN Production.Product_ondisk AS p ON p.ProductID = od.ProductID;

    COMMIT TRANSACTION;
END
GO

IF OBJECT_ID(N'Sales.usp_UpdateSalesOrderShipInfo_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_ondisk;
    PRINT N'replacing procedure Sales.usp_UpdateSalesOrderShipInfo_ondisk';
END
ELSE
    PRINT N'creating procedure Sales.usp_UpdateSalesOrderShipInfo_ondisk';
GO

-- Ships an order: header and all its lines, in one transaction.
CREATE PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_ondisk
    @SalesOrderID int,
    @ShipDate datetime2(7) = NULL,
    @Comment nvarchar(128) = NULL,
    @Status tinyint = 5,
    @TaxRate smallmoney = 0,
    @Freight money = 0,
    @CarrierTrackingNumber nvarchar(25) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Now datetime2(7) = SYSDATETIME();

    BEGIN TRANSACTION;

    UPDATE Sales.SalesOrderHeader_ondisk
    SET ShipDate = ISNULL(@ShipDate, @Now),
        Status = @Status,
        TaxAmt = SubTotal * @TaxRate,
        Freight = @Freight,
        Comment = ISNULL(@Comment, Comment),
        ModifiedDate = @Now
    WHERE SalesOrderID = @SalesOrderID;

    IF @@ROWCOUNT = 0
    BEGIN;
        THROW 50101, N'There is no sales order of that number.', 1;
    END;

    UPDATE Sales.SalesOrderDetail_ondisk
    SET CarrierTrackingNumber = @CarrierTrackingNumber,
        ModifiedDate = @Now
    WHERE SalesOrderID = @SalesOrderID;

    COMMIT TRANSACTION;
END
GO

IF OBJECT_ID(N'Production.usp_InsertProduct_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_InsertProduct_ondisk;
    PRINT N'replacing procedure Production.usp_InsertProduct_ondisk';
END
ELSE
    PRINT N'creating procedure Production.usp_InsertProduct_ondisk';
GO

-- Inserts a product after checking its values and that name and number are free. A lock of the application's own
-- keeps two sessions from both finding a name free.
CREATE PROCEDURE Production.usp_InsertProduct_ondisk
    @ProductID int OUTPUT,
    @Name nvarchar(50),
    @ProductNumber nvarchar(25),
    @StandardCost money,
    @ListPrice money,
    @SafetyStockLevel smallint = 100,
    @ReorderPoint smallint = 75,
    @DaysToManufacture int = 0,
    @MakeFlag bit = 1,
    @FinishedGoodsFlag bit = 1,
    @Color nvarchar(15) = NULL,
    @Size nvarchar(5) = NULL,
    @Weight decimal(8, 2) = NULL,
    @ProductLine nchar(2) = NULL,
    @Class nchar(2) = NULL,
    @Style nchar(2) = NULL,
    @SellStartDate datetime2(7) = NULL,
    @SellEndDate datetime2(7) = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Now datetime2(7) = SYSDATETIME();
    DECLARE @Found bit = 0;
    DECLARE @Lock int;
    DECLARE @Start datetime2(7) = ISNULL(@SellStartDate, @Now);

    IF @StandardCost < 0 OR @ListPrice < 0 OR @SafetyStockLevel <= 0 OR @ReorderPoint <= 0 OR @DaysToManufacture < 0
    BEGIN;
        THROW 50110, N'A cost, price, stock level or number of days is out of range.', 1;
    END;
    IF @Weight <= 0
    BEGIN;
        THROW 50111, N'The weight must be above zero.', 1;
    END;
    IF @SellEndDate < @Start
    BEGIN;
        THROW 50112, N'A product cannot stop selling before it starts.', 1;
    END;
    IF (@ProductLine <> N'M' AND @ProductLine <> N'R' AND @ProductLine <> N'S' AND @ProductLine <> N'T')
        OR (@Class <> N'H' AND @Class <> N'M' AND @Class <> N'L')
        OR (@Style <> N'U' AND @Style <> N'M' AND @Style <> N'W')
    BEGIN;
        THROW 50113, N'Product line, class or style is not one of the letters allowed.', 1;
    END;

    BEGIN TRANSACTION;

    EXEC @Lock = sys.sp_getapplock @Resource = N'Production.Product_ondisk', @LockMode = N'Exclusive',
        @LockOwner = N'Transaction', @LockTimeout = 30000;
    IF @Lock < 0
    BEGIN;
        THROW 50116, N'Another session inserts a product and does not come to an end.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Production.Product_ondisk WHERE Name = @Name;
    IF @Found = 1
    BEGIN;
        THROW 50114, N'A product of that name exists.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Production.Product_ondisk WHERE ProductNumber = @ProductNumber;
    IF @Found = 1
    BEGIN;
        THROW 50115, N'A product of that number exists.', 1;
    END;

    INSERT INTO Production.Product_ondisk
        (Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint, StandardCost,
         ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture, ProductLine, Class,
         Style, ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate, DiscontinuedDate, ModifiedDate)
    VALUES
        (@Name, @ProductNumber, @MakeFlag, @FinishedGoodsFlag, @Color, @SafetyStockLevel, @ReorderPoint, @StandardCost,
         @ListPrice, @Size, NULL, NULL, @Weight, @DaysToManufacture, @ProductLine, @Class,
         @Style, NULL, NULL, @Start, @SellEndDate, NULL, @Now);

    SET @ProductID = SCOPE_IDENTITY();

    COMMIT TRANSACTION;
END
GO

IF OBJECT_ID(N'Production.usp_DeleteProduct_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_DeleteProduct_ondisk;
    PRINT N'replacing procedure Production.usp_DeleteProduct_ondisk';
END
ELSE
    PRINT N'creating procedure Production.usp_DeleteProduct_ondisk';
GO

-- Deletes a product that no order line and no offer names. The row goes first: from then on no order can take the
-- product, and the look for order lines waits for orders under way. An error brings the row back.
CREATE PROCEDURE Production.usp_DeleteProduct_ondisk
    @ProductID int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Found bit = 0;

    BEGIN TRANSACTION;

    SELECT TOP (1) @Found = 1 FROM Sales.SpecialOfferProduct_ondisk WHERE ProductID = @ProductID;
    IF @Found = 1
    BEGIN;
        THROW 50121, N'Special offers name this product.', 1;
    END;

    DELETE FROM Production.Product_ondisk WHERE ProductID = @ProductID;
    IF @@ROWCOUNT = 0
    BEGIN;
        THROW 50122, N'There is no product of that number.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Sales.SalesOrderDetail_ondisk WHERE ProductID = @ProductID;
    IF @Found = 1
    BEGIN;
        THROW 50120, N'Order lines name this product.', 1;
    END;

    COMMIT TRANSACTION;
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOffer_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOffer_ondisk;
    PRINT N'replacing procedure Sales.usp_InsertSpecialOffer_ondisk';
END
ELSE
    PRINT N'creating procedure Sales.usp_InsertSpecialOffer_ondisk';
GO

-- Inserts a special offer after checking its values. The discount is a fraction: 0.15 is 15 %.
CREATE PROCEDURE Sales.usp_InsertSpecialOffer_ondisk
    @SpecialOfferID int OUTPUT,
    @Description nvarchar(255),
    @DiscountPct smallmoney,
    @Type nvarchar(50),
    @Category nvarchar(50),
    @StartDate datetime2(7),
    @EndDate datetime2(7),
    @MinQty int = 0,
    @MaxQty int = NULL
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    IF @DiscountPct < 0 OR @DiscountPct > 1
    BEGIN;
        THROW 50130, N'The discount is a fraction from 0 to 1.', 1;
    END;
    IF @EndDate < @StartDate
    BEGIN;
        THROW 50131, N'An offer cannot end before it starts.', 1;
    END;
    IF @MinQty < 0 OR @MaxQty < @MinQty
    BEGIN;
        THROW 50132, N'The quantities of the offer are out of range.', 1;
    END;

    INSERT INTO Sales.SpecialOffer_ondisk
        (Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate)
    VALUES
        (@Description, @DiscountPct, @Type, @Category, @StartDate, @EndDate, @MinQty, @MaxQty, SYSDATETIME());

    SET @SpecialOfferID = SCOPE_IDENTITY();
END
GO

IF OBJECT_ID(N'Sales.usp_DeleteSpecialOffer_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_DeleteSpecialOffer_ondisk;
    PRINT N'replacing procedure Sales.usp_DeleteSpecialOffer_ondisk';
END
ELSE
    PRINT N'creating procedure Sales.usp_DeleteSpecialOffer_ondisk';
GO

-- Deletes a special offer that no product and no order line names; in the order of usp_DeleteProduct_ondisk.
CREATE PROCEDURE Sales.usp_DeleteSpecialOffer_ondisk
    @SpecialOfferID int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Found bit = 0;

    BEGIN TRANSACTION;

    SELECT TOP (1) @Found = 1 FROM Sales.SpecialOfferProduct_ondisk WHERE SpecialOfferID = @SpecialOfferID;
    IF @Found = 1
    BEGIN;
        THROW 50140, N'Products are in this special offer.', 1;
    END;

    DELETE FROM Sales.SpecialOffer_ondisk WHERE SpecialOfferID = @SpecialOfferID;
    IF @@ROWCOUNT = 0
    BEGIN;
        THROW 50142, N'There is no special offer of that number.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Sales.SalesOrderDetail_ondisk WHERE SpecialOfferID = @SpecialOfferID;
    IF @Found = 1
    BEGIN;
        THROW 50141, N'Order lines name this special offer.', 1;
    END;

    COMMIT TRANSACTION;
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOfferProduct_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOfferProduct_ondisk;
    PRINT N'replacing procedure Sales.usp_InsertSpecialOfferProduct_ondisk';
END
ELSE
    PRINT N'creating procedure Sales.usp_InsertSpecialOfferProduct_ondisk';
GO

-- Puts a product into a special offer; both must exist, and the foreign keys see to it that they stay.
CREATE PROCEDURE Sales.usp_InsertSpecialOfferProduct_ondisk
    @SpecialOfferID int,
    @ProductID int
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;

    DECLARE @Found bit = 0;

    SELECT TOP (1) @Found = 1 FROM Sales.SpecialOffer_ondisk WHERE SpecialOfferID = @SpecialOfferID;
    IF @Found = 0
    BEGIN;
        THROW 50150, N'There is no special offer of that number.', 1;
    END;

    SET @Found = 0;
    SELECT TOP (1) @Found = 1 FROM Production.Product_ondisk WHERE ProductID = @ProductID;
    IF @Found = 0
    BEGIN;
        THROW 50151, N'There is no product of that number.', 1;
    END;

    INSERT INTO Sales.SpecialOfferProduct_ondisk (SpecialOfferID, ProductID, ModifiedDate)
    VALUES (@SpecialOfferID, @ProductID, SYSDATETIME());
END
GO

IF OBJECT_ID(N'Demo.usp_DemoReset_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Demo.usp_DemoReset_ondisk;
    PRINT N'replacing procedure Demo.usp_DemoReset_ondisk';
END
ELSE
    PRINT N'creating procedure Demo.usp_DemoReset_ondisk';
GO

-- Empties the two disk-based order tables and loads the originals again.
CREATE PROCEDURE Demo.usp_DemoReset_ondisk
AS
BEGIN
    SET NOCOUNT ON;

    TRUNCATE TABLE Sales.SalesOrderDetail_ondisk;
    TRUNCATE TABLE Sales.SalesOrderHeader_ondisk;

    SET IDENTITY_INSERT Sales.SalesOrderHeader_ondisk ON;
    INSERT INTO Sales.SalesOrderHeader_ondisk
        (SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
         AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID,
         CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate)
    SELECT
        SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
        AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID,
        CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate
    FROM Demo.vOriginalSalesOrderHeader;
    SET IDENTITY_INSERT Sales.SalesOrderHeader_ondisk OFF;

    SET IDENTITY_INSERT Sales.SalesOrderDetail_ondisk ON;
    INSERT INTO Sales.SalesOrderDetail_ondisk
        (SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
         UnitPriceDiscount, ModifiedDate)
    SELECT
        SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
        UnitPriceDiscount, ModifiedDate
    FROM Demo.vOriginalSalesOrderDetail;
    SET IDENTITY_INSERT Sales.SalesOrderDetail_ondisk OFF;
END
GO
