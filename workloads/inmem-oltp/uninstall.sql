-- gostress workload inmem-oltp: removes every object that install made, both halves.
--
-- A memory-optimized filegroup stays: it cannot be removed before SQL Server 2025.
IF OBJECT_ID(N'Demo.usp_DemoReset', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Demo.usp_DemoReset;
    PRINT N'dropped procedure Demo.usp_DemoReset';
END
GO

IF OBJECT_ID(N'Demo.usp_DemoReset_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Demo.usp_DemoReset_inmem;
    PRINT N'dropped procedure Demo.usp_DemoReset_inmem';
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSalesOrder_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSalesOrder_inmem;
    PRINT N'dropped procedure Sales.usp_InsertSalesOrder_inmem';
END
GO

IF OBJECT_ID(N'Sales.usp_UpdateSalesOrderShipInfo_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_inmem;
    PRINT N'dropped procedure Sales.usp_UpdateSalesOrderShipInfo_inmem';
END
GO

IF OBJECT_ID(N'Sales.usp_UpdateSalesOrderShipInfo_native', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_native;
    PRINT N'dropped procedure Sales.usp_UpdateSalesOrderShipInfo_native';
END
GO

IF OBJECT_ID(N'Production.usp_InsertProduct_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_InsertProduct_inmem;
    PRINT N'dropped procedure Production.usp_InsertProduct_inmem';
END
GO

IF OBJECT_ID(N'Production.usp_DeleteProduct_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_DeleteProduct_inmem;
    PRINT N'dropped procedure Production.usp_DeleteProduct_inmem';
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOffer_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOffer_inmem;
    PRINT N'dropped procedure Sales.usp_InsertSpecialOffer_inmem';
END
GO

IF OBJECT_ID(N'Sales.usp_DeleteSpecialOffer_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_DeleteSpecialOffer_inmem;
    PRINT N'dropped procedure Sales.usp_DeleteSpecialOffer_inmem';
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOfferProduct_inmem', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOfferProduct_inmem;
    PRINT N'dropped procedure Sales.usp_InsertSpecialOfferProduct_inmem';
END
GO

IF OBJECT_ID(N'Demo.usp_DemoReset_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Demo.usp_DemoReset_ondisk;
    PRINT N'dropped procedure Demo.usp_DemoReset_ondisk';
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSalesOrder_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSalesOrder_ondisk;
    PRINT N'dropped procedure Sales.usp_InsertSalesOrder_ondisk';
END
GO

IF OBJECT_ID(N'Sales.usp_UpdateSalesOrderShipInfo_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_UpdateSalesOrderShipInfo_ondisk;
    PRINT N'dropped procedure Sales.usp_UpdateSalesOrderShipInfo_ondisk';
END
GO

IF OBJECT_ID(N'Production.usp_InsertProduct_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_InsertProduct_ondisk;
    PRINT N'dropped procedure Production.usp_InsertProduct_ondisk';
END
GO

IF OBJECT_ID(N'Production.usp_DeleteProduct_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Production.usp_DeleteProduct_ondisk;
    PRINT N'dropped procedure Production.usp_DeleteProduct_ondisk';
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOffer_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOffer_ondisk;
    PRINT N'dropped procedure Sales.usp_InsertSpecialOffer_ondisk';
END
GO

IF OBJECT_ID(N'Sales.usp_DeleteSpecialOffer_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_DeleteSpecialOffer_ondisk;
    PRINT N'dropped procedure Sales.usp_DeleteSpecialOffer_ondisk';
END
GO

IF OBJECT_ID(N'Sales.usp_InsertSpecialOfferProduct_ondisk', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Sales.usp_InsertSpecialOfferProduct_ondisk;
    PRINT N'dropped procedure Sales.usp_InsertSpecialOfferProduct_ondisk';
END
GO

IF OBJECT_ID(N'dbo.usp_ValidateIntegrity', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.usp_ValidateIntegrity;
    PRINT N'dropped procedure dbo.usp_ValidateIntegrity';
END
GO

IF OBJECT_ID(N'dbo.usp_GenerateCKCheck', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.usp_GenerateCKCheck;
    PRINT N'dropped procedure dbo.usp_GenerateCKCheck';
END
GO

IF OBJECT_ID(N'dbo.usp_GenerateFKCheck', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.usp_GenerateFKCheck;
    PRINT N'dropped procedure dbo.usp_GenerateFKCheck';
END
GO

IF OBJECT_ID(N'dbo.GenerateUQCheck', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE dbo.GenerateUQCheck;
    PRINT N'dropped procedure dbo.GenerateUQCheck';
END
GO

IF OBJECT_ID(N'Sales.vSalesOrderHeader_extended_inmem', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderHeader_extended_inmem;
    PRINT N'dropped view Sales.vSalesOrderHeader_extended_inmem';
END
GO

IF OBJECT_ID(N'Sales.vSalesOrderDetail_extended_inmem', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderDetail_extended_inmem;
    PRINT N'dropped view Sales.vSalesOrderDetail_extended_inmem';
END
GO

IF OBJECT_ID(N'Sales.vSalesOrderHeader_extended_ondisk', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderHeader_extended_ondisk;
    PRINT N'dropped view Sales.vSalesOrderHeader_extended_ondisk';
END
GO

IF OBJECT_ID(N'Sales.vSalesOrderDetail_extended_ondisk', N'V') IS NOT NULL
BEGIN
    DROP VIEW Sales.vSalesOrderDetail_extended_ondisk;
    PRINT N'dropped view Sales.vSalesOrderDetail_extended_ondisk';
END
GO

IF OBJECT_ID(N'Demo.vOriginalProduct', N'V') IS NOT NULL
BEGIN
    DROP VIEW Demo.vOriginalProduct;
    PRINT N'dropped view Demo.vOriginalProduct';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSpecialOffer', N'V') IS NOT NULL
BEGIN
    DROP VIEW Demo.vOriginalSpecialOffer;
    PRINT N'dropped view Demo.vOriginalSpecialOffer';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSpecialOfferProduct', N'V') IS NOT NULL
BEGIN
    DROP VIEW Demo.vOriginalSpecialOfferProduct;
    PRINT N'dropped view Demo.vOriginalSpecialOfferProduct';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSalesOrderHeader', N'V') IS NOT NULL
BEGIN
    DROP VIEW Demo.vOriginalSalesOrderHeader;
    PRINT N'dropped view Demo.vOriginalSalesOrderHeader';
END
GO

IF OBJECT_ID(N'Demo.vOriginalSalesOrderDetail', N'V') IS NOT NULL
BEGIN
    DROP VIEW Demo.vOriginalSalesOrderDetail;
    PRINT N'dropped view Demo.vOriginalSalesOrderDetail';
END
GO

IF TYPE_ID(N'Sales.SalesOrderDetailType_inmem') IS NOT NULL
BEGIN
    DROP TYPE Sales.SalesOrderDetailType_inmem;
    PRINT N'dropped type Sales.SalesOrderDetailType_inmem';
END
GO

IF TYPE_ID(N'Sales.SalesOrderDetailType_ondisk') IS NOT NULL
BEGIN
    DROP TYPE Sales.SalesOrderDetailType_ondisk;
    PRINT N'dropped type Sales.SalesOrderDetailType_ondisk';
END
GO

IF OBJECT_ID(N'Sales.SalesOrderDetail_inmem', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SalesOrderDetail_inmem;
    PRINT N'dropped table Sales.SalesOrderDetail_inmem';
END
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader_inmem', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SalesOrderHeader_inmem;
    PRINT N'dropped table Sales.SalesOrderHeader_inmem';
END
GO

IF OBJECT_ID(N'Sales.SpecialOfferProduct_inmem', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SpecialOfferProduct_inmem;
    PRINT N'dropped table Sales.SpecialOfferProduct_inmem';
END
GO

IF OBJECT_ID(N'Sales.SpecialOffer_inmem', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SpecialOffer_inmem;
    PRINT N'dropped table Sales.SpecialOffer_inmem';
END
GO

IF OBJECT_ID(N'Production.Product_inmem', N'U') IS NOT NULL
BEGIN
    DROP TABLE Production.Product_inmem;
    PRINT N'dropped table Production.Product_inmem';
END
GO

IF OBJECT_ID(N'Sales.SalesOrderDetail_ondisk', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SalesOrderDetail_ondisk;
    PRINT N'dropped table Sales.SalesOrderDetail_ondisk';
END
GO

IF OBJECT_ID(N'Sales.SalesOrderHeader_ondisk', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SalesOrderHeader_ondisk;
    PRINT N'dropped table Sales.SalesOrderHeader_ondisk';
END
GO

IF OBJECT_ID(N'Sales.SpecialOfferProduct_ondisk', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SpecialOfferProduct_ondisk;
    PRINT N'dropped table Sales.SpecialOfferProduct_ondisk';
END
GO

IF OBJECT_ID(N'Sales.SpecialOffer_ondisk', N'U') IS NOT NULL
BEGIN
    DROP TABLE Sales.SpecialOffer_ondisk;
    PRINT N'dropped table Sales.SpecialOffer_ondisk';
END
GO

IF OBJECT_ID(N'Production.Product_ondisk', N'U') IS NOT NULL
BEGIN
    DROP TABLE Production.Product_ondisk;
    PRINT N'dropped table Production.Product_ondisk';
END
GO

IF OBJECT_ID(N'Demo.DemoSalesOrderHeaderSeed', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.DemoSalesOrderHeaderSeed;
    PRINT N'dropped table Demo.DemoSalesOrderHeaderSeed';
END
GO

IF OBJECT_ID(N'Demo.DemoSalesOrderDetailSeed', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.DemoSalesOrderDetailSeed;
    PRINT N'dropped table Demo.DemoSalesOrderDetailSeed';
END
GO

IF OBJECT_ID(N'Demo.OriginalSalesOrderDetail', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.OriginalSalesOrderDetail;
    PRINT N'dropped table Demo.OriginalSalesOrderDetail';
END
GO

IF OBJECT_ID(N'Demo.OriginalSalesOrderHeader', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.OriginalSalesOrderHeader;
    PRINT N'dropped table Demo.OriginalSalesOrderHeader';
END
GO

IF OBJECT_ID(N'Demo.OriginalSpecialOfferProduct', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.OriginalSpecialOfferProduct;
    PRINT N'dropped table Demo.OriginalSpecialOfferProduct';
END
GO

IF OBJECT_ID(N'Demo.OriginalSpecialOffer', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.OriginalSpecialOffer;
    PRINT N'dropped table Demo.OriginalSpecialOffer';
END
GO

IF OBJECT_ID(N'Demo.OriginalProduct', N'U') IS NOT NULL
BEGIN
    DROP TABLE Demo.OriginalProduct;
    PRINT N'dropped table Demo.OriginalProduct';
END
GO

IF OBJECT_ID(N'dbo.DomainIntegrity', N'U') IS NOT NULL
BEGIN
    DROP TABLE dbo.DomainIntegrity;
    PRINT N'dropped table dbo.DomainIntegrity';
END
GO

IF OBJECT_ID(N'dbo.ReferentialIntegrity', N'U') IS NOT NULL
BEGIN
    DROP TABLE dbo.ReferentialIntegrity;
    PRINT N'dropped table dbo.ReferentialIntegrity';
END
GO

IF OBJECT_ID(N'dbo.UniqueIntegrity', N'U') IS NOT NULL
BEGIN
    DROP TABLE dbo.UniqueIntegrity;
    PRINT N'dropped table dbo.UniqueIntegrity';
END
GO

IF EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.schema.Demo')
BEGIN
    IF EXISTS (SELECT * FROM sys.objects WHERE schema_id = SCHEMA_ID(N'Demo'))
        OR EXISTS (SELECT * FROM sys.types WHERE schema_id = SCHEMA_ID(N'Demo'))
        PRINT N'kept schema Demo: it holds objects of others';
    ELSE
    BEGIN
        DROP SCHEMA Demo;
        PRINT N'dropped schema Demo';
    END;
    EXEC sys.sp_dropextendedproperty @name = N'gostress.schema.Demo';
END
GO

IF EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.schema.Production')
BEGIN
    IF EXISTS (SELECT * FROM sys.objects WHERE schema_id = SCHEMA_ID(N'Production'))
        OR EXISTS (SELECT * FROM sys.types WHERE schema_id = SCHEMA_ID(N'Production'))
        PRINT N'kept schema Production: it holds objects of others';
    ELSE
    BEGIN
        DROP SCHEMA Production;
        PRINT N'dropped schema Production';
    END;
    EXEC sys.sp_dropextendedproperty @name = N'gostress.schema.Production';
END
GO

IF EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.schema.Sales')
BEGIN
    IF EXISTS (SELECT * FROM sys.objects WHERE schema_id = SCHEMA_ID(N'Sales'))
        OR EXISTS (SELECT * FROM sys.types WHERE schema_id = SCHEMA_ID(N'Sales'))
        PRINT N'kept schema Sales: it holds objects of others';
    ELSE
    BEGIN
        DROP SCHEMA Sales;
        PRINT N'dropped schema Sales';
    END;
    EXEC sys.sp_dropextendedproperty @name = N'gostress.schema.Sales';
END
GO

IF EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.elevate_to_snapshot')
BEGIN
    IF EXISTS (SELECT * FROM sys.extended_properties
               WHERE class = 0 AND name = N'gostress.elevate_to_snapshot' AND CONVERT(nvarchar(3), value) = N'OFF')
    BEGIN
        ALTER DATABASE CURRENT SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = OFF;
        PRINT N'set MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = OFF, as it was before install';
    END;
    EXEC sys.sp_dropextendedproperty @name = N'gostress.elevate_to_snapshot';
END
GO

IF EXISTS (SELECT * FROM sys.filegroups WHERE [type] = N'FX')
    PRINT N'kept the memory-optimized filegroup';
GO

IF EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.workload')
BEGIN
    EXEC sys.sp_dropextendedproperty @name = N'gostress.workload';
    PRINT N'removed the extended property gostress.workload';
END
GO
