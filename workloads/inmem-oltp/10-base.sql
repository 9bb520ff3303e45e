-- gostress workload inmem-oltp, install, part base: the mark of the database and the schemas.
--
-- The scripts of this folder run in name order, in the database that shall hold the sample. They are
-- repeatable: what is there is kept, and each step prints what it did. They use nothing newer than
-- SQL Server 2016 and hold no database name. Values in the form $(gs_name) are put in by gostress
-- (or by sqlcmd -v).
--
-- The extended property gostress.workload says that this database is ours to reset and to clean up.
IF NOT EXISTS (SELECT * FROM sys.extended_properties WHERE class = 0 AND name = N'gostress.workload')
BEGIN
    EXEC sys.sp_addextendedproperty @name = N'gostress.workload', @value = N'inmem-oltp';
    PRINT N'marked the database with the extended property gostress.workload';
END
ELSE
    PRINT N'kept the extended property gostress.workload';
GO

-- gostress.schema.* remember the schemas made here, so that uninstall leaves those of others alone.
IF SCHEMA_ID(N'Sales') IS NULL
BEGIN
    EXEC (N'CREATE SCHEMA Sales AUTHORIZATION dbo;');
    EXEC sys.sp_addextendedproperty @name = N'gostress.schema.Sales', @value = N'created';
    PRINT N'created schema Sales';
END
ELSE
    PRINT N'kept schema Sales';
GO

IF SCHEMA_ID(N'Production') IS NULL
BEGIN
    EXEC (N'CREATE SCHEMA Production AUTHORIZATION dbo;');
    EXEC sys.sp_addextendedproperty @name = N'gostress.schema.Production', @value = N'created';
    PRINT N'created schema Production';
END
ELSE
    PRINT N'kept schema Production';
GO

IF SCHEMA_ID(N'Demo') IS NULL
BEGIN
    EXEC (N'CREATE SCHEMA Demo AUTHORIZATION dbo;');
    EXEC sys.sp_addextendedproperty @name = N'gostress.schema.Demo', @value = N'created';
    PRINT N'created schema Demo';
END
ELSE
    PRINT N'kept schema Demo';
GO
