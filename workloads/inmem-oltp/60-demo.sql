-- gostress workload inmem-oltp, install, part base: the reset of the demo.
IF OBJECT_ID(N'Demo.usp_DemoReset', N'P') IS NOT NULL
BEGIN
    DROP PROCEDURE Demo.usp_DemoReset;
    PRINT N'replacing procedure Demo.usp_DemoReset';
END
ELSE
    PRINT N'creating procedure Demo.usp_DemoReset';
GO

-- Brings both halves, or the one that is installed, back to the original orders, and takes a checkpoint.
CREATE PROCEDURE Demo.usp_DemoReset
AS
BEGIN
    SET NOCOUNT ON;

    IF OBJECT_ID(N'Demo.usp_DemoReset_inmem', N'P') IS NOT NULL
        EXEC Demo.usp_DemoReset_inmem;
    IF OBJECT_ID(N'Demo.usp_DemoReset_ondisk', N'P') IS NOT NULL
        EXEC Demo.usp_DemoReset_ondisk;

    CHECKPOINT;
END
GO
