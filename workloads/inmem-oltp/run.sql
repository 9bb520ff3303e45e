-- One iteration of the runs inmem and ondisk: twenty orders with the five lines of one seed order, each order
-- a transaction of its own. The loop makes up for the work the server does to build the order, which a middle
-- tier would do instead.
DECLARE
    @Made int = 0,
    @Lines Sales.SalesOrderDetailType_$(gs_form),
    @SalesOrderID int,
    @DueDate datetime2 = SYSDATETIME(),
    @CustomerID int = RAND() * 8000,
    @BillToAddressID int = RAND() * 10000,
    @ShipToAddressID int = RAND() * 10000,
    @ShipMethodID int = (RAND() * 5) + 1;

INSERT INTO @Lines (OrderQty, ProductID, SpecialOfferID)
SELECT OrderQty, ProductID, SpecialOfferID
FROM Demo.DemoSalesOrderDetailSeed
WHERE OrderID = CAST((RAND() * 106) + 1 AS int);

WHILE @Made < 20
BEGIN
    EXEC Sales.usp_InsertSalesOrder_$(gs_form) @SalesOrderID OUTPUT, @DueDate, @CustomerID, @BillToAddressID,
        @ShipToAddressID, @ShipMethodID, @Lines;
    SET @Made += 1;
END
