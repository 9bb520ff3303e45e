-- gostress workload inmem-oltp, install, part inmem: the procedures. Code is replaced, so that a newer
-- gostress brings its own.
IF OBJECT_ID(N'Sales.usp_InsertSalesOrder_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSalesOrder_inmem;
    PRINT N'replacing procedure Sales.usp_InsertSalesOrder_inmem';
END
ELSE
    PRINT N'creating procedure Sales.usp_InsertSalesOrder_inmem';
GO

-- Inserts one order with its lines in one transaction. The clock is read once, for every date of the order.
-- SubTotal = sum of ROUND(OrderQty * list price * (1 - discount of the offer), 4).
-- An INSERT in a natively compiled procedure must name every column that has no default.
CREATE PROCEDURE Sales.usp_InsertSalesOrder_inmem
    @SalesOrderID int OUTPUT,
    @DueDate datetime2(7) NOT NULL,
    @CustomerID int NOT NULL,
    @BillToAddressID int NOT NULL,
    @ShipToAddressID int NOT NULL,
    @ShipMethodID int NOT NULL,
    @SalesOrderDetails Sales.SalesOrderDetailType_inmem READONLY,
    @Status tinyint NOT NULL = 1,
    @OnlineOrderFlag bit NOT NULL = 1,
    @PurchaseOrderNumber nvarchar(25) = NULL,
    @AccountNumber nvarchar(15) = NULL,
    @SalesPersonID int NOT NULL = -1,
    @TerritoryID int = NULL,
    @CreditCardID int = NULL,
    @CreditCardApprovalCode varchar(15) = NULL,
    @CurrencyRateID int = NULL,
    @Comment nvarchar(128) = NULL
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @Now datetime2(7) NOT NULL = SYSDATETIME();
    DECLARE @SubTotal money NOT NULL = 0;
    DECLARE @NotShipped nvarchar(25) = NULL;

    SELECT @SubTotal = ISNULL(SUM(ROUND(od.OrderQty * p.ListPrice * (1 - so.DiscountPct), 4)), 0)
    FROM @SalesOrderDetails AS od
    INNER JOIN Sales.SpecialOffer_inmem AS so ON so.SpecialOfferID = od.SpecialOfferID
    INNER JOIN Production.Product_inmem AS p ON p.ProductID = od.ProductID;

    INSERT INTO Sales.SalesOrderHeader_inmem
        (RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber, AccountNumber,
         CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID, CreditCardID,
         CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate)
    VALUES
        (1, @Now, @DueDate, NULL, @Status, @OnlineOrderFlag, @PurchaseOrderNumber, @AccountNumber,
         @CustomerID, @SalesPersonID, @TerritoryID, @BillToAddressID, @ShipToAddressID, @ShipMethodID, @CreditCardID,
         @CreditCardApprovalCode, @CurrencyRateID, @SubTotal, 0, 0, @Comment, @Now);

    SET @SalesOrderID = SCOPE_IDENTITY();

    INSERT INTO Sales.SalesOrderDetail_inmem
        (SalesOrderID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice, UnitPriceDiscount,
         ModifiedDate)
    SELECT @SalesOrderID, @NotShipped, od.OrderQty, od.ProductID, od.SpecialOfferID, p.ListPrice, so.DiscountPct, @Now
    FROM @SalesOrderDetails AS od
    INNER JOIN Sales.SpecialOffer_inmem AS so ON so.SpecialOfferID = od.SpecialOfferID
    INNER JOIN Production.Product_inmem AS p ON p.ProductID = od.ProductID;
END
GO

IF OBJECT_ID(N'Sales.usp_UpdateSalesOrderShipInfo_native', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_native;
    PRINT N'replacing procedure Sales.usp_UpdateSalesOrderShipInfo_native';
END
ELSE
    PRINT N'creating procedure Sales.usp_UpdateSalesOrderShipInfo_native';
GO

-- Ships an order: header and all its lines, in one transaction. It may fail with 41302 and its like when
-- another session changes the same order: callers without a retry of their own use ..._inmem.
CREATE PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_native
    @SalesOrderID int NOT NULL,
    @ShipDate datetime2(7),
    @Comment nvarchar(128),
    @Status tinyint NOT NULL,
    @TaxRate smallmoney NOT NULL,
    @Freight money NOT NULL,
    @CarrierTrackingNumber nvarchar(25)
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @Now datetime2(7) NOT NULL = SYSDATETIME();

    UPDATE Sales.SalesOrderHeader_inmem
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

    UPDATE Sales.SalesOrderDetail_inmem
    SET CarrierTrackingNumber = @CarrierTrackingNumber,
        ModifiedDate = @Now
    WHERE SalesOrderID = @SalesOrderID;
END
GO

IF OBJECT_ID(N'Sales.usp_UpdateSalesOrderShipInfo_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_inmem;
    PRINT N'replacing procedure Sales.usp_UpdateSalesOrderShipInfo_inmem';
END
ELSE
    PRINT N'creating procedure Sales.usp_UpdateSalesOrderShipInfo_inmem';
GO

-- Calls ..._native and tries again, at most ten times in all, after a write conflict (41302), a failed validation
-- (41305, 41325), a failed dependency (41301) or a deadlock (1205). Inside a caller's transaction it cannot try
-- again, since that transaction is lost: the error goes to the caller.
CREATE PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_inmem
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

    DECLARE @Tries int = 0;
    DECLARE @Done bit = 0;

    WHILE @Done = 0
    BEGIN
        BEGIN TRY
            SET @Tries = @Tries + 1;
            EXEC Sales.usp_UpdateSalesOrderShipInfo_native
                @SalesOrderID, @ShipDate, @Comment, @Status, @TaxRate, @Freight, @CarrierTrackingNumber;
            SET @Done = 1;
        END TRY
        BEGIN CATCH
            IF @Tries >= 10
                OR XACT_STATE() <> 0
                OR ERROR_NUMBER() NOT IN (41302, 41305, 41325, 41301, 1205)
            BEGIN;
                THROW;
            END;
            WAITFOR DELAY '00:00:00.002';
        END CATCH;
    END;
END
GO

IF OBJECT_ID(N'Production.usp_InsertProduct_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_InsertProduct_inmem;
    PRINT N'replacing procedure Production.usp_InsertProduct_inmem';
END
ELSE
    PRINT N'creating procedure Production.usp_InsertProduct_inmem';
GO

-- Inserts a product after checking its values and that name and number are free. SERIALIZABLE: when another
-- session takes the same name meanwhile, the commit fails with 41325.
CREATE PROCEDURE Production.usp_InsertProduct_inmem
    @ProductID int OUTPUT,
    @Name nvarchar(50) NOT NULL,
    @ProductNumber nvarchar(25) NOT NULL,
    @StandardCost money NOT NULL,
    @ListPrice money NOT NULL,
    @SafetyStockLevel smallint NOT NULL = 100,
    @ReorderPoint smallint NOT NULL = 75,
    @DaysToManufacture int NOT NULL = 0,
    @MakeFlag bit NOT NULL = 1,
    @FinishedGoodsFlag bit NOT NULL = 1,
    @Color nvarchar(15) = NULL,
    @Size nvarchar(5) = NULL,
    @Weight decimal(8, 2) = NULL,
    @ProductLine nchar(2) = NULL,
    @Class nchar(2) = NULL,
    @Style nchar(2) = NULL,
    @SellStartDate datetime2(7) = NULL,
    @SellEndDate datetime2(7) = NULL
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SERIALIZABLE, LANGUAGE = N'us_english')
    DECLARE @Now datetime2(7) NOT NULL = SYSDATETIME();
    DECLARE @Found bit NOT NULL = 0;
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

    SELECT TOP (1) @Found = 1 FROM Production.Product_inmem WHERE Name = @Name;
    IF @Found = 1
    BEGIN;
        THROW 50114, N'A product of that name exists.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Production.Product_inmem WHERE ProductNumber = @ProductNumber;
    IF @Found = 1
    BEGIN;
        THROW 50115, N'A product of that number exists.', 1;
    END;

    INSERT INTO Production.Product_inmem
        (Name, ProductNumber, MakeFlag, FinishedGoodsFlag, Color, SafetyStockLevel, ReorderPoint, StandardCost,
         ListPrice, Size, SizeUnitMeasureCode, WeightUnitMeasureCode, Weight, DaysToManufacture, ProductLine, Class,
         Style, ProductSubcategoryID, ProductModelID, SellStartDate, SellEndDate, DiscontinuedDate, ModifiedDate)
    VALUES
        (@Name, @ProductNumber, @MakeFlag, @FinishedGoodsFlag, @Color, @SafetyStockLevel, @ReorderPoint, @StandardCost,
         @ListPrice, @Size, NULL, NULL, @Weight, @DaysToManufacture, @ProductLine, @Class,
         @Style, NULL, NULL, @Start, @SellEndDate, NULL, @Now);

    SET @ProductID = SCOPE_IDENTITY();
END
GO

IF OBJECT_ID(N'Production.usp_DeleteProduct_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_DeleteProduct_inmem;
    PRINT N'replacing procedure Production.usp_DeleteProduct_inmem';
END
ELSE
    PRINT N'creating procedure Production.usp_DeleteProduct_inmem';
GO

-- Deletes a product that no order line and no offer names.
CREATE PROCEDURE Production.usp_DeleteProduct_inmem
    @ProductID int NOT NULL
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SERIALIZABLE, LANGUAGE = N'us_english')
    DECLARE @Found bit NOT NULL = 0;

    SELECT TOP (1) @Found = 1 FROM Sales.SpecialOfferProduct_inmem WHERE ProductID = @ProductID;
    IF @Found = 1
    BEGIN;
        THROW 50121, N'Special offers name this product.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Sales.SalesOrderDetail_inmem WHERE ProductID = @ProductID;
    IF @Found = 1
    BEGIN;
        THROW 50120, N'Order lines name this product.', 1;
    END;

    DELETE FROM Production.Product_inmem WHERE ProductID = @ProductID;
    IF @@ROWCOUNT = 0
    BEGIN;
        THROW 50122, N'There is no product of that number.', 1;
    END;
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOffer_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOffer_inmem;
    PRINT N'replacing procedure Sales.usp_InsertSpecialOffer_inmem';
END
ELSE
    PRINT N'creating procedure Sales.usp_InsertSpecialOffer_inmem';
GO

-- Inserts a special offer after checking its values. The discount is a fraction: 0.15 is 15 %.
CREATE PROCEDURE Sales.usp_InsertSpecialOffer_inmem
    @SpecialOfferID int OUTPUT,
    @Description nvarchar(255) NOT NULL,
    @DiscountPct smallmoney NOT NULL,
    @Type nvarchar(50) NOT NULL,
    @Category nvarchar(50) NOT NULL,
    @StartDate datetime2(7) NOT NULL,
    @EndDate datetime2(7) NOT NULL,
    @MinQty int NOT NULL = 0,
    @MaxQty int = NULL
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @Now datetime2(7) NOT NULL = SYSDATETIME();

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

    INSERT INTO Sales.SpecialOffer_inmem
        (Description, DiscountPct, [Type], Category, StartDate, EndDate, MinQty, MaxQty, ModifiedDate)
    VALUES
        (@Description, @DiscountPct, @Type, @Category, @StartDate, @EndDate, @MinQty, @MaxQty, @Now);

    SET @SpecialOfferID = SCOPE_IDENTITY();
END
GO

IF OBJECT_ID(N'Sales.usp_DeleteSpecialOffer_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_DeleteSpecialOffer_inmem;
    PRINT N'replacing procedure Sales.usp_DeleteSpecialOffer_inmem';
END
ELSE
    PRINT N'creating procedure Sales.usp_DeleteSpecialOffer_inmem';
GO

-- Deletes a special offer that no product and no order line names. The lines have no index on the offer, as
-- the workload never looks there, so the second check scans them.
CREATE PROCEDURE Sales.usp_DeleteSpecialOffer_inmem
    @SpecialOfferID int NOT NULL
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SERIALIZABLE, LANGUAGE = N'us_english')
    DECLARE @Found bit NOT NULL = 0;

    SELECT TOP (1) @Found = 1 FROM Sales.SpecialOfferProduct_inmem WHERE SpecialOfferID = @SpecialOfferID;
    IF @Found = 1
    BEGIN;
        THROW 50140, N'Products are in this special offer.', 1;
    END;

    SELECT TOP (1) @Found = 1 FROM Sales.SalesOrderDetail_inmem WHERE SpecialOfferID = @SpecialOfferID;
    IF @Found = 1
    BEGIN;
        THROW 50141, N'Order lines name this special offer.', 1;
    END;

    DELETE FROM Sales.SpecialOffer_inmem WHERE SpecialOfferID = @SpecialOfferID;
    IF @@ROWCOUNT = 0
    BEGIN;
        THROW 50142, N'There is no special offer of that number.', 1;
    END;
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOfferProduct_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOfferProduct_inmem;
    PRINT N'replacing procedure Sales.usp_InsertSpecialOfferProduct_inmem';
END
ELSE
    PRINT N'creating procedure Sales.usp_InsertSpecialOfferProduct_inmem';
GO

-- Puts a product into a special offer; both must exist.
CREATE PROCEDURE Sales.usp_InsertSpecialOfferProduct_inmem
    @SpecialOfferID int NOT NULL,
    @ProductID int NOT NULL
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SERIALIZABLE, LANGUAGE = N'us_english')
    DECLARE @Now datetime2(7) NOT NULL = SYSDATETIME();
    DECLARE @Found bit NOT NULL = 0;

    SELECT TOP (1) @Found = 1 FROM Sales.SpecialOffer_inmem WHERE SpecialOfferID = @SpecialOfferID;
    IF @Found = 0
    BEGIN;
        THROW 50150, N'There is no special offer of that number.', 1;
    END;

    SET @Found = 0;
    SELECT TOP (1) @Found = 1 FROM Production.Product_inmem WHERE ProductID = @ProductID;
    IF @Found = 0
    BEGIN;
        THROW 50151, N'There is no product of that number.', 1;
    END;

    INSERT INTO Sales.SpecialOfferProduct_inmem (SpecialOfferID, ProductID, ModifiedDate)
    VALUES (@SpecialOfferID, @ProductID, @Now);
END
GO

IF OBJECT_ID(N'Demo.usp_DemoReset_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Demo.usp_DemoReset_inmem;
    PRINT N'replacing procedure Demo.usp_DemoReset_inmem';
END
ELSE
    PRINT N'creating procedure Demo.usp_DemoReset_inmem';
GO

-- Empties the two memory-optimized order tables (TRUNCATE is not for them) and loads the originals again. The
-- identity values go on from the highest ever used: they cannot be set back.
CREATE PROCEDURE Demo.usp_DemoReset_inmem
AS
BEGIN
    SET NOCOUNT ON;

    DELETE FROM Sales.SalesOrderDetail_inmem;
    DELETE FROM Sales.SalesOrderHeader_inmem;

    SET IDENTITY_INSERT Sales.SalesOrderHeader_inmem ON;
    INSERT INTO Sales.SalesOrderHeader_inmem WITH (SNAPSHOT)
        (SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
         AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID,
         CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate)
    SELECT
        SalesOrderID, RevisionNumber, OrderDate, DueDate, ShipDate, Status, OnlineOrderFlag, PurchaseOrderNumber,
        AccountNumber, CustomerID, SalesPersonID, TerritoryID, BillToAddressID, ShipToAddressID, ShipMethodID,
        CreditCardID, CreditCardApprovalCode, CurrencyRateID, SubTotal, TaxAmt, Freight, Comment, ModifiedDate
    FROM Demo.vOriginalSalesOrderHeader;
    SET IDENTITY_INSERT Sales.SalesOrderHeader_inmem OFF;

    SET IDENTITY_INSERT Sales.SalesOrderDetail_inmem ON;
    INSERT INTO Sales.SalesOrderDetail_inmem WITH (SNAPSHOT)
        (SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
         UnitPriceDiscount, ModifiedDate)
    SELECT
        SalesOrderID, SalesOrderDetailID, CarrierTrackingNumber, OrderQty, ProductID, SpecialOfferID, UnitPrice,
        UnitPriceDiscount, ModifiedDate
    FROM Demo.vOriginalSalesOrderDetail;
    SET IDENTITY_INSERT Sales.SalesOrderDetail_inmem OFF;
END
GO
